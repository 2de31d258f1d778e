#include "net/outbox.hpp"

#include <algorithm>
#include <cassert>
#include <cerrno>

namespace strata::net {

namespace {

// A slice that pins this many times its size is copied out, so that a slow reader cannot hold much
// more memory than the bytes queued for it.
constexpr std::uint32_t worst_pinning = 8;
// Bytes sealed at a time: four TLS records.
constexpr std::size_t most_sealed = 64U << 10U;

}  // namespace

outbox::~outbox() {
  auto* const present = sealed();
  const bool may_end =
      present != nullptr && broken_ == 0 && !under_way() && present->on_its_way.empty();
  abandon();
  if (!may_end || bytes_ != 0) return;
  if (const auto last = present->how->seal_end(); !last.empty()) {
    home().send_at_once(to_, last.bytes());
  }
}

void outbox::push(const loop::slice& data) {
  assert(file() == nullptr);
  if (data.empty() || broken_ != 0) return;
  bytes_ += data.size();
  pushed_ += data.size();
  const bool is_first = first_ == waiting_.size();
  if (is_first || !(waiting_.back().extend(data) || waiting_.back().append(data.bytes()))) {
    if (!is_first) compact_last();
    waiting_.push_back(data);
  }
  if (!under_way()) home().at_turn_end(*this);
}

void outbox::push_file(const loop::file_part& part) {
  assert(file() == nullptr && sealed() == nullptr && allowed() == UINT64_MAX);
  if (part.count == 0 || broken_ != 0) return;
  bytes_ += part.count;
  pushed_ += part.count;
  with_rare().file = std::make_unique<loop::file_part>(part);
  if (!under_way()) home().at_turn_end(*this);
}

void outbox::compact_last() {
  auto& last = waiting_.back();
  if (last.pinned() / worst_pinning > last.size()) last = loop::slice::copy_of(last.bytes());
}

void outbox::seal_with(std::unique_ptr<sealer> sealer) {
  with_rare().sealed = std::make_unique<sealing>(std::move(sealer));
}

void outbox::send_owed() {
  if (!under_way() && broken_ == 0 && is_owing()) home().at_turn_end(*this);
}

void outbox::on_turn_end() {
  if (under_way() || broken_ != 0) return;
  const auto all = std::span(waiting_).subspan(first_);
  if (sealed() != nullptr) {
    send_sealed(all);
    return;
  }
  if (bytes_ == 0) {
    if (is_ending_) home().shut_down_send(to_);
    return;
  }
  if (all.empty()) {
    home().send_file(to_, *file(), *this);
    return;
  }
  const auto next = all.first(std::min(all.size(), loop::loop::max_send_slices));
  if (pushed_ <= allowed()) {
    home().send(to_, next, *this);
  } else if (const auto part = first_of(next); !part.empty()) {
    home().send(to_, part, *this);
  }
}

// Returns the part of `waiting` that may be sent and that fits into one seal.
std::vector<loop::slice> outbox::first_of(std::span<const loop::slice> waiting) const {
  const auto sent = pushed_ - bytes_;
  auto most = sent < allowed() ? allowed() - sent : 0;
  if (sealed() != nullptr) most = std::min<std::uint64_t>(most, most_sealed);
  std::vector<loop::slice> part;
  for (const auto& each : waiting) {
    if (most == 0) break;
    const auto size = static_cast<std::uint32_t>(std::min<std::uint64_t>(each.size(), most));
    part.push_back(each.part(0, size));
    most -= size;
  }
  return part;
}

void outbox::send_sealed(std::span<const loop::slice> waiting) {
  auto& [how, on_its_way, plain] = *sealed();
  if (on_its_way.empty()) {
    const auto part = first_of(waiting);
    for (const auto& each : part) plain += each.size();
    if (plain != 0 || how->owes()) {
      on_its_way = how->seal(part);
      if (on_its_way.empty()) return break_off(EPROTO);
    } else if (is_ending_ && bytes_ == 0) {
      on_its_way = how->seal_end();
      if (on_its_way.empty()) home().shut_down_send(to_);
    }
    if (on_its_way.empty()) return;
  }
  home().send(to_, {&on_its_way, 1}, *this);
}

void outbox::break_off(int sys_errno) {
  broken_ = static_cast<std::uint16_t>(sys_errno);
  waiting_.clear();
  if (rare_) rare_->file.reset();
  first_ = 0;
  bytes_ = 0;
  // The stream's reader learns of the break from the end of its receive.
  home().shut_down(to_);
  if (changed_) changed_->notify();
}

void outbox::allow(std::uint64_t bytes) {
  if (bytes != allowed()) with_rare().allowed = bytes;
  if (!empty() && !under_way()) home().at_turn_end(*this);
}

void outbox::end() {
  is_ending_ = true;
  if (!under_way()) home().at_turn_end(*this);
}

void outbox::send_end_at_once() {
  if (sealed() == nullptr || under_way() || bytes_ != 0 || broken_ != 0) return;
  const auto end = sealed()->how->seal_end();
  if (!end.empty()) home().send_at_once(to_, end.bytes());
}

void outbox::on_completion(loop::completion completion) {
  if (completion.result < 0) {
    break_off(-completion.result);
  } else if (auto* const present = sealed()) {
    auto& left = present->on_its_way;
    left.remove_prefix(static_cast<std::uint32_t>(completion.result));
    if (left.empty()) {
      left = {};
      take_sent(std::exchange(present->plain, 0));
    }
  } else if (file() != nullptr && first_ == waiting_.size()) {
    take_sent_of_file(static_cast<std::size_t>(completion.result));
  } else {
    take_sent(static_cast<std::size_t>(completion.result));
  }
  if (!empty() || is_ending_ || is_owing()) home().at_turn_end(*this);
  if (changed_) changed_->notify();
}

void outbox::take_sent_of_file(std::size_t count) {
  if (count == 0) return break_off(ENODATA);
  bytes_ -= count;
  auto& left = *rare_->file;
  left.offset += count;
  left.count -= count;
  if (left.count == 0) rare_->file.reset();
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
    // An idle connection keeps room for a few slices only.
    if (waiting_.capacity() > 16) waiting_ = std::vector<loop::slice>();
  } else if (first_ >= 64) {
    waiting_.erase(waiting_.begin(), waiting_.begin() + static_cast<std::ptrdiff_t>(first_));
    first_ = 0;
  }
}

}  // namespace strata::net
