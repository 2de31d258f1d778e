// A condition on an object, for which coroutines wait. The object notifies when the condition is to
// be checked again.
//
// For one loop's thread. Destroying the condition is safe: coroutines that still wait are resumed
// in a later turn, and their wait returns false.
#pragma once

#include <boost/intrusive/list.hpp>
#include <coroutine>
#include <utility>

#include "loop/loop.hpp"

namespace strata::loop {

class condition final : private turn_end_hook {
 public:
  explicit condition(loop& loop) : loop_(loop) {}
  ~condition() override;

  /// Reports a change: coroutines whose condition now holds are resumed at the end of this turn.
  void notify() {
    if (!waiting_.empty()) loop_.at_turn_end(*this);
  }

  /// Waits until `holds()` is true, at most until `limit`; reports whether it is. With an
  /// `interval`, also checks `holds` that often, for changes without a notification.
  template <class Holds>
  [[nodiscard]] auto wait(Holds holds, time_point limit = time_point::max(),
                          duration interval = {});

 private:
  class waiter : public timer {
   public:
    waiter(condition& condition, time_point limit, duration interval)
        : loop_(condition.loop_), of_(&condition), limit_(limit), interval_(interval) {}

    [[nodiscard]] bool await_ready() { return holds() || loop_.now() >= limit_; }
    void await_suspend(std::coroutine_handle<> self) {
      self_ = self;
      of_->waiting_.push_back(*this);
      arm_next();
    }
    [[nodiscard]] bool await_resume() { return of_ != nullptr && holds(); }

   protected:
    [[nodiscard]] virtual bool holds() = 0;

   private:
    friend class condition;
    void on_timer() override;
    void arm_next();
    void resume();

    loop& loop_;
    condition* of_;  // null once the condition is destroyed
    time_point limit_;
    duration interval_;
    std::coroutine_handle<> self_;

   public:
    boost::intrusive::list_member_hook<boost::intrusive::link_mode<boost::intrusive::auto_unlink>>
        place;
  };

  template <class Holds>
  class waiter_for final : public waiter {
   public:
    waiter_for(condition& condition, Holds holds, time_point limit, duration interval)
        : waiter(condition, limit, interval), holds_(std::move(holds)) {}

   private:
    [[nodiscard]] bool holds() override { return holds_(); }
    Holds holds_;
  };

  void on_turn_end() override;

  loop& loop_;
  boost::intrusive::list<
      waiter, boost::intrusive::member_hook<waiter, decltype(waiter::place), &waiter::place>,
      boost::intrusive::constant_time_size<false>>
      waiting_;
};

template <class Holds>
auto condition::wait(Holds holds, time_point limit, duration interval) {
  return waiter_for<Holds>(*this, std::move(holds), limit, interval);
}

}  // namespace strata::loop
