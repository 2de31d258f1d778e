// Wakes one coroutine. However often it is raised during a turn, the coroutine runs once, at the
// turn's end; if it is raised while no coroutine waits, the next wait ends at once. For one loop's
// thread.
#pragma once

#include <coroutine>
#include <utility>

#include "loop/loop.hpp"
#include "loop/source_awaiter.hpp"

namespace strata::loop {

class signal final : private turn_end_hook {
 public:
  explicit signal(loop& loop) : loop_(loop) {}

  void raise() {
    raised_ = true;
    if (waiter_) loop_.at_turn_end(*this);
  }
  /// One waiter at a time.
  [[nodiscard]] auto wait() { return source_awaiter(*this); }

 private:
  friend class source_awaiter<signal>;
  void on_turn_end() override {
    if (waiter_) std::exchange(waiter_, {}).resume();
  }
  [[nodiscard]] bool prepare() const { return raised_; }
  void take() { raised_ = false; }

  loop& loop_;
  std::coroutine_handle<> waiter_;
  bool raised_ = false;
};

}  // namespace strata::loop
