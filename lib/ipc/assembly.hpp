// Reassembles the fragments of large IPC messages, within limits, and in any order.
#pragma once

#include <chrono>
#include <cstddef>
#include <cstdint>
#include <optional>
#include <vector>

#include "ipc/outbox.hpp"
#include "strata/wire/ipc_frame.hpp"

namespace strata::ipc {

class assembly {
 public:
  struct limits {
    std::size_t max_message = 0;  ///< bytes
    std::size_t max_partial = 0;  ///< incomplete messages
    std::size_t max_bytes = 0;    ///< of all incomplete messages together
    std::chrono::milliseconds timeout{0};
  };

  explicit assembly(const limits& limits) : limits_(limits) {}

  /// Takes a fragment that has not come before. Returns the message that it completes, valid until
  /// the next call. If there is no room, drops the oldest incomplete message. Does not take a
  /// message above the limit; call `is_too_large` first.
  [[nodiscard]] std::optional<byte_span> add(std::uint64_t sender, std::uint64_t sequence,
                                             const wire::ipc_fragment& piece, ipc_time now);
  [[nodiscard]] bool is_too_large(const wire::ipc_fragment& piece) const {
    return piece.total > limits_.max_message;
  }
  /// Drops incomplete messages that began longer than the timeout ago.
  void expire(ipc_time now);
  /// Drops all incomplete messages of a sender.
  void forget(std::uint64_t sender);

  [[nodiscard]] std::size_t partial() const { return partial_.size(); }
  /// The number of dropped messages.
  [[nodiscard]] std::uint64_t dropped() const { return dropped_; }

 private:
  struct partial_message {
    std::uint64_t sender = 0;
    std::uint64_t first = 0;
    std::uint32_t count = 0;
    std::uint32_t missing = 0;
    ipc_time begun;
    std::vector<std::byte> bytes;
  };

  partial_message& find_or_begin(std::uint64_t sender, const wire::ipc_fragment& piece,
                                 ipc_time now);
  void drop(std::size_t offset);

  limits limits_;
  std::vector<partial_message> partial_;  // oldest first
  std::size_t bytes_ = 0;
  std::uint64_t dropped_ = 0;
  std::vector<std::byte> complete_;  // the message returned last; its memory is reused
};

}  // namespace strata::ipc
