// Whom an unacknowledged IPC channel hears: drops what comes twice, and counts what never came.
#pragma once

#include <cstddef>
#include <cstdint>
#include <vector>

#include "strata/wire/ipc_frame.hpp"

namespace strata::ipc {

/// What one sender sent, as far as it was heard.
class sender {
 public:
  /// A frame that comes later than this number of others counts as lost.
  static constexpr std::uint64_t memory = 64;

  /// What was sent before the first frame that was heard is not missed.
  sender(std::uint64_t id, std::uint64_t sequence, std::uint64_t message);

  [[nodiscard]] std::uint64_t id() const { return id_; }
  /// False for a frame that came before, or so late that this cannot be known.
  [[nodiscard]] bool accept(std::uint64_t sequence);
  /// That messages up to but without number `end` were begun.
  void expect_messages(std::uint64_t end);
  void count_delivered(std::uint64_t messages) { delivered_ += messages; }

  [[nodiscard]] std::uint64_t frames_lost() const { return end_ - base_ - accepted_; }
  /// Partial messages among them.
  [[nodiscard]] std::uint64_t messages_lost() const;

 private:
  std::uint64_t id_;
  std::uint64_t base_;  // sequences, from the first heard
  std::uint64_t end_;
  std::uint64_t accepted_ = 0;
  std::uint64_t seen_ = 0;  // bit i: frame end_ - 1 - i came
  std::uint64_t message_base_;
  std::uint64_t message_end_;
  std::uint64_t delivered_ = 0;
};

/// The senders heard most lately, up to a limit.
class senders {
 public:
  explicit senders(std::size_t limit) : limit_(limit) {}

  /// nullptr when it was not heard before, or forgotten; valid until the next call.
  [[nodiscard]] sender* find(std::uint64_t id);
  /// Makes the sender of this frame known, which is not yet. `first_message` is the number of the
  /// first message that can be had of it. When there are too many senders, the one not heard for
  /// longest is forgotten.
  [[nodiscard]] sender* add(const wire::ipc_header& header, std::uint64_t first_message);

  [[nodiscard]] std::uint64_t frames_lost() const;
  [[nodiscard]] std::uint64_t messages_lost() const;

 private:
  std::size_t limit_;
  std::vector<sender> known_;  // latest heard last
  std::uint64_t forgotten_frames_ = 0;
  std::uint64_t forgotten_messages_ = 0;
};

}  // namespace strata::ipc
