#include "runtime/scripting/sequence.hpp"

#include <utility>

namespace strata::runtime::scripting {

bool sequence::tell(callback which, std::string_view message) {
  if (!is_busy()) {
    start(which, message);
  } else if (turns_.size() < most_behind) {
    turns_.push_back({which, std::string(message)});
  } else {
    return false;
  }
  return true;
}

void sequence::tell_soon(callback which) {
  turns_.push_back({which, {}});
  loop_.at_turn_end(*this);
}

void sequence::start(callback which, std::string_view message) {
  running_ = which;
  is_started_ = true;
  owner_.start(which, message, *this);
}

// What follows is told later, not from within the function that has ended.
void sequence::on_end(const script::finished& with) {
  is_started_ = false;
  owner_.on_ended(running_, with);
  if (!is_advancing_) loop_.at_turn_end(*this);
}

// In a loop: functions that do not wait end within `start`.
void sequence::on_turn_end() {
  is_advancing_ = true;
  while (!is_started_ && !turns_.empty()) {
    const auto next = std::move(turns_.front());
    turns_.pop_front();
    start(next.which, next.message);
  }
  is_advancing_ = false;
  if (!is_started_) owner_.on_settled();  // the last thing: it may destroy this
}

}  // namespace strata::runtime::scripting
