// The send buffer of an IPC endpoint: messages packed or split into frames, which stay here until
// they are sent (or, in acknowledged mode, until they have arrived).
//
// Frames lie in buffers of one fixed size that are allocated once; nothing is allocated later. The
// buffer returned last is used first, since it is still in the cache.
#pragma once

#include <chrono>
#include <cstddef>
#include <cstdint>
#include <vector>

#include "strata/wire/ethernet.hpp"
#include "strata/wire/ipc_frame.hpp"

namespace strata::ipc {

using ipc_time = std::chrono::steady_clock::time_point;

/// An outgoing frame.
struct outgoing_frame {
  wire::ipc_kind kind = wire::ipc_kind::packed;
  std::uint64_t message = 0;   ///< as in its header
  std::uint32_t messages = 0;  ///< number of messages that end in it
  std::uint32_t buffer = 0;    ///< number of its buffer
  std::size_t size = 0;        ///< of the payload, the IPC header included
  bool is_sealed = false;

  // For acknowledged mode.
  std::uint32_t transmissions = 0;
  std::uint64_t order = 0;  ///< of its latest transmission, among all transmissions
  ipc_time sent_at;         ///< the latest transmission
  bool has_arrived = false;
  bool is_lost = false;  ///< presumed lost: to be sent again
};

class outbox {
 public:
  /// Allocates `count` frames of at most `payload_size` bytes behind the Ethernet header, which is
  /// the same for all and has no tags.
  outbox(std::size_t payload_size, std::size_t count, const wire::frame_header& header);

  /// The most bytes of a message that one frame takes, packed or as a fragment.
  [[nodiscard]] std::size_t largest_packed() const;
  [[nodiscard]] std::size_t largest_piece() const;
  /// Reports whether `append` would find room for a message of `size` bytes.
  [[nodiscard]] bool has_room_for(std::size_t size) const;
  /// Reports whether the message would fit in the open frame.
  [[nodiscard]] bool has_room_beside(std::size_t size) const {
    return open_ &&
           frames_[(end_ - 1) & (frames_.size() - 1)].size + wire::ipc_records::head_size + size <=
               payload_size_;
  }
  /// Copies the message into the open frame if it fits. Inline, since it runs for every small
  /// message.
  [[nodiscard]] bool append_beside(byte_span message) {
    if (!has_room_beside(message.size())) return false;
    auto& frame = (*this)[end_ - 1];
    frame.size += wire::ipc_records::write(payload_of(frame).subspan(frame.size), message);
    ++frame.messages;
    ++messages_;
    return true;
  }
  /// Copies the message, into the open frame if it fits. There must be room.
  void append(byte_span message);

  /// Reports whether messages wait in a frame that has room left.
  [[nodiscard]] bool is_open() const { return open_; }
  /// Closes the open frame to further messages.
  void close() { open_ = false; }

  /// Frames are identified by their sequence: from `first()` up to but excluding `end()`. Frames
  /// from `closed_end()` on still get messages.
  [[nodiscard]] std::uint64_t first() const { return first_; }
  [[nodiscard]] std::uint64_t end() const { return end_; }
  [[nodiscard]] std::uint64_t closed_end() const { return open_ ? end_ - 1 : end_; }
  [[nodiscard]] bool is_empty() const { return first_ == end_; }
  [[nodiscard]] outgoing_frame& operator[](std::uint64_t sequence) {
    return frames_[sequence & (frames_.size() - 1)];
  }
  /// Returns the whole Ethernet frame; `header` gets kind, sequence and message from the frame. A
  /// frame is sealed once.
  [[nodiscard]] byte_span sealed(std::uint64_t sequence, wire::ipc_header header);
  /// Drops the frame `first()`.
  void drop_first();
  /// Marks all frames as unsent, to send them to another peer.
  void rewind();
  /// Drops all frames. Returns the number of messages in them.
  std::uint64_t drop_all();
  /// As `drop_all`, and restarts the sequence at 0.
  std::uint64_t reset();

 private:
  outgoing_frame& open_new(wire::ipc_kind kind);
  [[nodiscard]] mutable_byte_span payload_of(const outgoing_frame& frame) {
    return mutable_byte_span(memory_).subspan(
        frame.buffer * buffer_size_ + wire::ethernet_header_size, payload_size_);
  }
  void append_pieces(byte_span message);

  std::size_t payload_size_;
  std::size_t buffer_size_;
  std::vector<std::byte> memory_;
  std::vector<outgoing_frame> frames_;  // by sequence; a power of two
  std::vector<std::uint32_t> free_;     // free buffers, a stack
  std::uint64_t first_ = 0;
  std::uint64_t end_ = 0;
  std::uint64_t messages_ = 0;  // number ever begun
  bool open_ = false;
};

}  // namespace strata::ipc
