#include "loop/buffer_queue.hpp"

namespace strata::loop {

namespace {

constexpr unsigned many = 4;            // that wait: buffers are scarce
constexpr unsigned scarce_turns = 256;  // and stay so, for those that come next

}  // namespace

void buffer_queue::enter(buffer_seeker& one) {
  (appetite_of(one.descriptor) == appetite::much ? bulk_ : others_).push_back(one);
}

bool buffer_queue::must_enter(const buffer_seeker& one) const {
  const bool takes_turns = scarce_ != 0 && appetite_of(one.descriptor) == appetite::much;
  return takes_turns || !others_.empty();
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

void buffer_queue::note_turn() {
  unsigned waiting = 0;
  for (const auto* const each : {&others_, &bulk_}) {
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
