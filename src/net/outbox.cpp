#include "net/outbox.hpp"

#include <algorithm>

namespace strata::net {

namespace {

// A slice that pins this many times its size is copied out, so that a reader that is slow cannot
// hold much more memory than the bytes that wait for it.
constexpr std::uint32_t worst_pinning = 8;

}  // namespace

void outbox::push(const loop::slice& data) {
  if (data.empty() || broken_ != 0) return;
  bytes_ += data.size();
  pushed_ += data.size();
  if (first_ == waiting_.size() || !waiting_.back().extend(data)) {
    if (first_ != waiting_.size()) compact_last();
    waiting_.push_back(data);
  }
  if (!under_way()) loop_.at_turn_end(*this);
}

void outbox::compact_last() {
  auto& last = waiting_.back();
  if (last.pinned() / worst_pinning > last.size()) last = loop::slice::copy_of(last.bytes());
}

void outbox::on_turn_end() {
  if (under_way() || first_ == waiting_.size()) return;
  const auto count = std::min(waiting_.size() - first_, loop::loop::max_send_slices);
  const auto next = std::span(waiting_).subspan(first_, count);
  const auto sent = pushed_ - bytes_;
  if (pushed_ <= allowed_) {
    loop_.send(to_, next, *this);
  } else if (sent < allowed_) {
    send_first(next, allowed_ - sent);
  }
}

// A part of what waits: `most` bytes at most.
void outbox::send_first(std::span<const loop::slice> of, std::uint64_t most) {
  std::vector<loop::slice> part;
  for (const auto& each : of) {
    if (most == 0) break;
    const auto size = static_cast<std::uint32_t>(std::min<std::uint64_t>(each.size(), most));
    part.push_back(each.part(0, size));
    most -= size;
  }
  loop_.send(to_, part, *this);
}

void outbox::allow(std::uint64_t bytes) {
  allowed_ = bytes;
  if (!empty() && !under_way()) loop_.at_turn_end(*this);
}

void outbox::on_completion(loop::completion done) {
  if (done.result < 0) {
    broken_ = -done.result;
    waiting_.clear();
    first_ = 0;
    bytes_ = 0;
    // The reader of this stream learns of it by the end of its receive.
    loop_.shut_down(to_);
    return;
  }
  take_sent(static_cast<std::size_t>(done.result));
  if (!empty()) loop_.at_turn_end(*this);
}

void outbox::take_sent(std::size_t count) {
  bytes_ -= count;
  while (count != 0) {
    auto& front = waiting_[first_];
    const auto part = std::min<std::size_t>(count, front.size());
    front.remove_prefix(static_cast<std::uint32_t>(part));
    count -= part;
    if (front.empty()) waiting_[first_++] = {};
  }
  if (first_ == waiting_.size()) {
    waiting_.clear();
    first_ = 0;
    // An idle connection keeps no more than a few slices' room.
    if (waiting_.capacity() > 16) waiting_ = {};
  } else if (first_ >= 64) {
    waiting_.erase(waiting_.begin(), waiting_.begin() + static_cast<std::ptrdiff_t>(first_));
    first_ = 0;
  }
}

}  // namespace strata::net
