// The messages of a client on their way to a client of another runtime: in their order, one at a
// time.
//
// For the loop of the client's shard.
#pragma once

#include <cstdint>
#include <deque>
#include <functional>
#include <string>
#include <string_view>

#include "loop/condition.hpp"
#include "loop/task_group.hpp"

namespace strata::runtime {
class runtime_service;
}

namespace strata::runtime::server {

/// Where a pipe leads.
struct far_client {
  std::string runtime;
  std::uint64_t id = 0;
};

class far_pipe {
 public:
  /// `others` outlives it. `on_end` is called when a message could not be delivered: the pipe takes
  /// no more then.
  far_pipe(loop::loop& loop, runtime_service& others, far_client end, std::function<void()> on_end);

  /// Returns false if the pipe has ended.
  [[nodiscard]] bool push(std::string_view message);
  /// Bytes that wait for their delivery.
  [[nodiscard]] std::size_t unsent() const { return unsent_; }
  /// Waits until the messages so far are delivered.
  [[nodiscard]] loop::task<> room();
  [[nodiscard]] bool has_ended() const { return is_over_; }
  [[nodiscard]] const far_client& end() const { return end_; }

 private:
  loop::task<> carry();

  loop::loop& loop_;
  runtime_service& others_;
  far_client end_;
  std::function<void()> on_end_;
  std::deque<std::string> queue_;
  std::size_t unsent_ = 0;
  bool is_over_ = false;
  loop::condition changed_;
  loop::task_group carrying_;
};

}  // namespace strata::runtime::server
