#include "loop/condition.hpp"

#include <algorithm>

namespace strata::loop {

condition::~condition() {
  while (!waiting_.empty()) {
    auto& left = waiting_.front();
    waiting_.pop_front();
    left.of_ = nullptr;
    loop_.arm(left, loop_.now());
  }
}

// Resumes one waiter at a time, since a resumed coroutine may destroy this.
void condition::on_turn_end() {
  const auto next = std::ranges::find_if(waiting_, [](waiter& each) { return each.holds(); });
  if (next == waiting_.end()) return;
  loop_.at_turn_end(*this);
  next->resume();
}

void condition::waiter::arm_next() {
  const auto look = interval_ == duration::zero() ? time_point::max() : loop_.now() + interval_;
  const auto next = std::min(limit_, look);
  if (next != time_point::max()) loop_.arm(*this, next);
}

void condition::waiter::on_timer() {
  if (of_ != nullptr && !holds() && loop_.now() < limit_) {
    arm_next();
  } else {
    resume();
  }
}

void condition::waiter::resume() {
  place.unlink();
  disarm();
  self_.resume();
}

}  // namespace strata::loop
