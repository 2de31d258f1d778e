#include "loop/backends/buffer_queue.hpp"

namespace strata::loop {

namespace {

constexpr unsigned many = 4;            // waiting receives at which buffers are scarce
constexpr unsigned scarce_turns = 256;  // how long they then count as scarce
// The duration of a turn's work, for which streams that receive little wait.
constexpr auto long_turn = std::chrono::milliseconds(20);
constexpr auto short_turn = std::chrono::milliseconds(5);

}  // namespace

void buffer_queue::enter(buffer_seeker& one) { list_of(one).push_back(one); }

buffer_queue::list& buffer_queue::list_of(const buffer_seeker& one) {
  const auto wanted = appetite_of(one.descriptor);
  if (wanted == appetite::unknown) return fresh_;
  return wanted == appetite::much ? bulk_ : little_;
}

bool buffer_queue::must_enter(const buffer_seeker& one) const {
  const bool takes_turns = scarce_ != 0 && appetite_of(one.descriptor) == appetite::much;
  const bool is_behind_fresh = appetite_of(one.descriptor) != appetite::little && !fresh_.empty();
  return takes_turns || is_behind_fresh || !little_.empty();
}

bool buffer_queue::may_take_many(const buffer_seeker& one) const {
  return scarce_ == 0 || appetite_of(one.descriptor) == appetite::little;
}

void buffer_queue::note_received(int descriptor, std::size_t bytes, std::size_t of_buffer) {
  const auto at = static_cast<std::size_t>(descriptor);
  if (at >= appetites_.size()) appetites_.resize(std::max(at + 1, 2 * appetites_.size()));
  appetites_[at] = bytes > of_buffer / 2 ? appetite::much : appetite::little;
}

void buffer_queue::forget(int descriptor) {
  const auto at = static_cast<std::size_t>(descriptor);
  if (at < appetites_.size()) appetites_[at] = appetite::unknown;
}

void buffer_queue::note_turn(std::chrono::microseconds took) {
  if (took > long_turn) {
    most_a_turn_ = std::max(most_a_turn_ / 2, 1U);
  } else if (took < short_turn) {
    most_a_turn_ = std::min(most_a_turn_ + 1, most_ever_a_turn);
  }
  unsigned waiting = 0;
  for (const auto* const each : {&little_, &fresh_, &bulk_}) {
    for (auto at = each->begin(); at != each->end() && waiting < many; ++at) ++waiting;
  }
  if (waiting == many) {
    scarce_ = scarce_turns;
  } else if (scarce_ != 0) {
    --scarce_;
  }
}

buffer_queue::appetite buffer_queue::appetite_of(int descriptor) const {
  const auto at = static_cast<std::size_t>(descriptor);
  return at < appetites_.size() ? appetites_[at] : appetite::unknown;
}

}  // namespace strata::loop
