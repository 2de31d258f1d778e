// The senders that an unacknowledged IPC channel receives from: drops duplicates, and counts
// losses.
#pragma once

#include <cstddef>
#include <cstdint>
#include <vector>

#include "strata/wire/ipc_frame.hpp"

namespace strata::ipc {

/// The messages and frames of one sender, as far as they were received.
class sender {
 public:
  /// A frame that arrives after more than this number of later ones counts as lost.
  static constexpr std::uint64_t memory = 64;

  /// Frames and messages before the first received frame do not count as lost.
  sender(std::uint64_t id, std::uint64_t sequence, std::uint64_t message);

  [[nodiscard]] std::uint64_t id() const { return id_; }
  /// Returns false for a duplicate, or a frame too late to tell.
  [[nodiscard]] bool accept(std::uint64_t sequence);
  /// Records that messages up to but excluding number `end` were begun.
  void expect_messages(std::uint64_t end);
  void count_delivered(std::uint64_t messages) { delivered_ += messages; }

  [[nodiscard]] std::uint64_t frames_lost() const { return end_ - base_ - accepted_; }
  /// Includes incomplete messages.
  [[nodiscard]] std::uint64_t messages_lost() const;

 private:
  std::uint64_t id_;
  std::uint64_t base_;  // sequences, from the first received
  std::uint64_t end_;
  std::uint64_t accepted_ = 0;
  std::uint64_t seen_ = 0;  // bit i: frame end_ - 1 - i has arrived
  std::uint64_t message_base_;
  std::uint64_t message_end_;
  std::uint64_t delivered_ = 0;
};

/// The most recently active senders, up to a limit.
class senders {
 public:
  explicit senders(std::size_t limit) : limit_(limit) {}

  /// Returns nullptr if the sender is unknown or forgotten; valid until the next call.
  [[nodiscard]] sender* find(std::uint64_t id);
  /// Adds the sender of this frame, which must be unknown. `first_message` is the number of the
  /// first message that can be received from it. If there are too many senders, forgets the one
  /// silent for longest.
  [[nodiscard]] sender* add(const wire::ipc_header& header, std::uint64_t first_message);

  [[nodiscard]] std::uint64_t frames_lost() const;
  [[nodiscard]] std::uint64_t messages_lost() const;

 private:
  std::size_t limit_;
  std::vector<sender> known_;  // most recent last
  std::uint64_t forgotten_frames_ = 0;
  std::uint64_t forgotten_messages_ = 0;
};

}  // namespace strata::ipc
