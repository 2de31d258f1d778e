// `strata.redis`: a client of a Redis server, or of a cache. All functions of a script share one
// connection, and their requests do not wait for each other; the connection is made for the first
// request, and again after it broke.
#pragma once

#include <deque>
#include <memory>
#include <optional>
#include <string>

#include "loop/condition.hpp"
#include "loop/task_group.hpp"
#include "proto/resp/resp_value.hpp"
#include "runtime/scripting/host.hpp"
#include "runtime/scripting/redis_settings.hpp"
#include "script/call.hpp"

namespace strata::runtime::scripting {

class redis_client final : public script::object {
 public:
  redis_client(loop::loop& loop, net::directory* names, redis_settings settings);

  void close() override;

  // --- what scripts call
  loop::task<script::answers> call_one(script::call& call);
  loop::task<script::answers> call_together(script::call& call);
  void close_by(script::call& call);

 private:
  using owned = std::shared_ptr<redis_client>;

  /// A request that waits for answers. Its sender may be gone before they arrive.
  struct question {
    question(loop::loop& loop, std::size_t answers) : missing(answers), changed(loop) {}
    std::size_t missing;
    proto::resp_value last = {};
    std::string trouble = {};  // why it failed
    loop::condition changed;
    [[nodiscard]] bool is_over() const { return missing == 0 || !trouble.empty(); }
  };

  static loop::task<script::answers> ask(owned self, std::string request, std::size_t answers);
  loop::task<> run();
  void break_off(const std::string& why);

  loop::loop& loop_;
  net::directory* names_;
  redis_settings settings_;
  std::optional<redis::connection> connection_;
  std::deque<std::shared_ptr<question>> asked_;
  bool is_running_ = false;
  bool is_ready_ = false;
  bool is_closed_ = false;
  std::string trouble_;  // why it is not ready
  loop::condition changed_;
  loop::task_group tasks_;
};

/// `strata.redis(where, options?)`.
void open_redis(host& host, script::call& call);
[[nodiscard]] const script::object_kind& redis_kind();
/// Adds each Redis command as a method.
[[nodiscard]] std::string_view redis_lines();

}  // namespace strata::runtime::scripting
