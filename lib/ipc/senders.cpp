#include "ipc/senders.hpp"

#include <algorithm>

namespace strata::ipc {

sender::sender(std::uint64_t id, std::uint64_t sequence, std::uint64_t message)
    : id_(id), base_(sequence), end_(sequence), message_base_(message), message_end_(message) {}

bool sender::accept(std::uint64_t sequence) {
  if (sequence >= end_) {
    const auto ahead = sequence - end_ + 1;
    seen_ = ahead < memory ? seen_ << ahead | 1U : 1U;
    end_ = sequence + 1;
    ++accepted_;
    return true;
  }
  const auto behind = end_ - 1 - sequence;
  if (behind >= memory || sequence < base_) return false;
  const auto bit = std::uint64_t{1} << behind;
  if ((seen_ & bit) != 0) return false;
  seen_ |= bit;
  ++accepted_;
  return true;
}

void sender::expect_messages(std::uint64_t end) { message_end_ = std::max(message_end_, end); }

std::uint64_t sender::messages_lost() const {
  const auto begun = message_end_ - message_base_;
  return begun > delivered_ ? begun - delivered_ : 0;
}

sender* senders::find(std::uint64_t id) {
  if (!known_.empty() && known_.back().id() == id) return &known_.back();
  const auto found = std::ranges::find(known_, id, &sender::id);
  if (found == known_.end()) return nullptr;
  std::rotate(found, found + 1, known_.end());
  return &known_.back();
}

sender* senders::add(const wire::ipc_header& header, std::uint64_t first_message) {
  if (known_.size() >= limit_) {
    forgotten_frames_ += known_.front().frames_lost();
    forgotten_messages_ += known_.front().messages_lost();
    known_.erase(known_.begin());
  }
  return &known_.emplace_back(header.sender, header.sequence, first_message);
}

std::uint64_t senders::frames_lost() const {
  auto lost = forgotten_frames_;
  for (const auto& each : known_) lost += each.frames_lost();
  return lost;
}

std::uint64_t senders::messages_lost() const {
  auto lost = forgotten_messages_;
  for (const auto& each : known_) lost += each.messages_lost();
  return lost;
}

}  // namespace strata::ipc
