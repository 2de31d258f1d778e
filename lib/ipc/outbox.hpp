// What an IPC endpoint sends: messages packed or cut into frames, which stay here until they are
// sent (or, in acknowledged mode, until they have arrived).
//
// Frames lie in buffers of one fixed size that are made once; nothing is allocated later. The
// buffer given back last is used first, since it is still in the cache.
#pragma once

#include <chrono>
#include <cstddef>
#include <cstdint>
#include <vector>

#include "strata/wire/ethernet.hpp"
#include "strata/wire/ipc_frame.hpp"

namespace strata::ipc {

using ipc_time = std::chrono::steady_clock::time_point;

/// A frame on its way out.
struct outgoing_frame {
  wire::ipc_kind kind = wire::ipc_kind::packed;
  std::uint64_t message = 0;   ///< as in its header
  std::uint32_t messages = 0;  ///< that end in it
  std::uint32_t buffer = 0;    ///< number of its buffer
  std::size_t size = 0;        ///< of the payload, the IPC header included
  bool is_sealed = false;

  // In acknowledged mode.
  std::uint32_t transmissions = 0;
  std::uint64_t order = 0;  ///< of its latest transmission among all
  ipc_time sent_at;         ///< its latest transmission
  bool has_arrived = false;
  bool is_lost = false;  ///< as far as the sender knows: to be sent again
};

class outbox {
 public:
  /// Frames of `payload_size` bytes at most behind the Ethernet header, which is the same
  /// for all and has no tags; `count` of them.
  outbox(std::size_t payload_size, std::size_t count, const wire::frame_header& header);

  /// The most bytes that one frame takes of a message that is packed, or is cut.
  [[nodiscard]] std::size_t largest_packed() const;
  [[nodiscard]] std::size_t largest_piece() const;
  /// Whether `append` would find room for a message of `size` bytes.
  [[nodiscard]] bool has_room_for(std::size_t size) const;
  /// Whether it would find room beside others in the open frame.
  [[nodiscard]] bool has_room_beside(std::size_t size) const {
    return open_ &&
           frames_[(end_ - 1) & (frames_.size() - 1)].size + wire::ipc_records::head_size + size <=
               payload_size_;
  }
  /// Copies the message in if it finds room there. Inline: it runs for every small message.
  [[nodiscard]] bool append_beside(byte_span message) {
    if (!has_room_beside(message.size())) return false;
    auto& frame = (*this)[end_ - 1];
    frame.size += wire::ipc_records::write(payload_of(frame).subspan(frame.size), message);
    ++frame.messages;
    ++messages_;
    return true;
  }
  /// Copies the message in, behind those that wait in the open frame where it fits. Needs room.
  void append(byte_span message);

  /// Says whether messages wait in a frame that has room left.
  [[nodiscard]] bool is_open() const { return open_; }
  /// The open frame gets no more messages.
  void close() { open_ = false; }

  /// Frames are known by their sequence: from `first()` on, up to but without `end()`. What is
  /// behind `closed_end()` still gets messages.
  [[nodiscard]] std::uint64_t first() const { return first_; }
  [[nodiscard]] std::uint64_t end() const { return end_; }
  [[nodiscard]] std::uint64_t closed_end() const { return open_ ? end_ - 1 : end_; }
  [[nodiscard]] bool is_empty() const { return first_ == end_; }
  [[nodiscard]] outgoing_frame& operator[](std::uint64_t sequence) {
    return frames_[sequence & (frames_.size() - 1)];
  }
  /// The whole Ethernet frame; `header` gets kind, sequence and message from the frame. A frame is
  /// sealed once.
  [[nodiscard]] byte_span sealed(std::uint64_t sequence, wire::ipc_header header);
  /// Gives back the frame `first()`.
  void drop_first();
  /// All frames are as if never sent, to go to another.
  void rewind();
  /// Gives back all frames. Returns how many messages were in them.
  std::uint64_t drop_all();
  /// As `drop_all`, and counts from 0 again.
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
  std::vector<std::uint32_t> free_;     // buffers, a stack
  std::uint64_t first_ = 0;
  std::uint64_t end_ = 0;
  std::uint64_t messages_ = 0;  // ever begun
  bool open_ = false;
};

}  // namespace strata::ipc
