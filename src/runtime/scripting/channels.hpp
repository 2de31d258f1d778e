// `strata.subscribe`: passes messages published in the channels of a cache, or of a Redis server,
// to a function of the script. A broken connection is made again.
#pragma once

#include <string>
#include <vector>

#include "loop/task_group.hpp"
#include "net/backoff.hpp"
#include "runtime/scripting/host.hpp"
#include "runtime/scripting/redis_settings.hpp"
#include "runtime/scripting/subscription.hpp"

namespace strata::runtime::scripting {

struct channel_wishes {
  redis_settings server = {};
  std::vector<std::string> channels = {};
  bool are_patterns = false;
};

class channel_subscription final : public subscription {
 public:
  channel_subscription(host& host, script::machine& machine, script::value_ref call,
                       channel_wishes wishes);

  /// Follows the channels until it is closed.
  void begin() { tasks_.spawn(follow()); }
  /// Waits for the first attempt. Returns an empty text if it has succeeded, otherwise why not.
  [[nodiscard]] loop::task<std::string> tried();

 private:
  void stop() override { tasks_.cancel(); }
  loop::task<> follow();
  loop::task<error> receive();
  [[nodiscard]] result<void> take(proto::resp_value value);

  host& host_;
  channel_wishes what_;
  std::size_t unconfirmed_ = 0;
  bool has_tried_ = false;
  std::string trouble_;  // of the last attempt; empty if it has succeeded
  net::backoff pauses_;
  loop::condition changed_;
  loop::task_group tasks_;
};

/// `strata.subscribe(where, channels, call, options?)`, and for patterns `strata.psubscribe`.
[[nodiscard]] loop::task<script::answers> subscribe(host& host, script::call& call,
                                                    bool are_patterns);

}  // namespace strata::runtime::scripting
