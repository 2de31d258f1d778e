#include "runtime/scripting/sequence.hpp"

#include <utility>

namespace strata::runtime::scripting {

bool sequence::notify(callback callback, std::string_view message) {
  if (waiting() >= most_behind) return false;
  turns_.push_back({callback, message.size()});
  said_ += message;
  script_.on().at_turn_end(*this);
  return true;
}

void sequence::notify_soon(callback callback) {
  turns_.push_back({callback, 0});
  script_.on().at_turn_end(*this);
}

void sequence::clear() {
  turns_.clear();
  said_.clear();
  first_ = taken_ = 0;
}

// The text is valid until the next one is taken.
std::string_view sequence::take_first() {
  constexpr std::size_t many = 1000;
  if (first_ >= many && first_ > turns_.size() / 2) {
    turns_.erase(turns_.begin(), turns_.begin() + static_cast<std::ptrdiff_t>(first_));
    said_.erase(0, taken_);
    first_ = taken_ = 0;
  }
  const auto& one = turns_[first_++];
  const auto text = std::string_view(said_).substr(taken_, one.size);
  taken_ += one.size;
  return text;
}

// Continues while messages follow: other events have functions of their own.
std::optional<script::step> sequence::next() {
  while (waiting() != 0 && is_message(turns_[first_])) {
    const auto which = turns_[first_].which;
    const auto text = take_first();
    if (!owner_.is_for_script(text)) continue;
    running_ = which;
    return script_.step_of(which, id_, text);
  }
  return std::nullopt;
}

// Later events are reported at the turn's end, not inside the function that has ended.
void sequence::on_end(const script::finished& outcome) {
  is_started_ = false;
  owner_.on_ended(running_, outcome);
  if (!is_advancing_) script_.on().at_turn_end(*this);
}

// A loop, since functions that do not wait end within `start`.
void sequence::catch_up() {
  if (std::exchange(is_advancing_, true)) return;
  if (script_.has_ended()) clear();
  while (!is_started_ && waiting() != 0) {
    is_started_ = true;
    if (is_message(turns_[first_])) {
      script_.start(*this);
      continue;
    }
    running_ = turns_[first_].which;
    const auto text = take_first();
    script_.start_for(running_, id_, text, this);
  }
  if (waiting() == 0) clear();
  is_advancing_ = false;
}

void sequence::on_turn_end() {
  catch_up();
  if (!is_started_) owner_.on_settled();  // the last action: it may destroy this object
}

}  // namespace strata::runtime::scripting
