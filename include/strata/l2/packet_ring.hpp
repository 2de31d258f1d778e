// Ethernet frames through memory shared with the kernel (PACKET_MMAP, TPACKET_V3): the kernel fills
// whole blocks of frames, and the receiver reads them in place, without a system call or a copy per
// frame. Needs CAP_NET_RAW. Linux 4.20 or newer.
//
// Use it for many frames: the kernel hands over a block when it is full or `block_timeout` has
// passed, so a lone frame waits that long. Where the delay of a single frame counts, use
// `frame_ring`, which hands over each frame at once.
#pragma once

#include <chrono>
#include <cstddef>
#include <cstdint>
#include <iterator>
#include <memory>
#include <optional>
#include <string_view>

#include "strata/base/mapping.hpp"
#include "strata/base/unique_fd.hpp"
#include "strata/l2/raw_socket.hpp"

struct tpacket3_hdr;

namespace strata::l2 {

struct packet_ring_options {
  /// As for a socket; without `receives` there is no receive ring.
  raw_socket_options socket;
  std::size_t block_size = 1U << 18U;  ///< bytes, a power of two of at least a page
  std::size_t block_count = 16;
  /// How long a block that is not full may wait; at least 1 ms.
  std::chrono::milliseconds block_timeout{1};
  /// The least number of frames in the send ring; 0 means no send ring, and sending is not
  /// possible. The ring consists of whole blocks of `block_size`, but at most 256 KiB, each: with
  /// an MTU of 1500 and the default block size, 16 gives 128.
  std::size_t send_slots = 0;
};

/// A block of frames that the kernel has handed over; the destructor returns it to the kernel. The
/// bytes of its frames are valid until then. Must not outlive its ring.
class frame_block {
 public:
  class iterator {
   public:
    using iterator_category = std::input_iterator_tag;
    using value_type = received_frame;
    using difference_type = std::ptrdiff_t;

    iterator() = default;
    iterator(std::byte* bytes, std::uint32_t left) : at_(bytes), left_(left) {}
    /// Puts the tag that the kernel removed back in its place, and returns the frame.
    [[nodiscard]] received_frame operator*() const;
    iterator& operator++();
    void operator++(int) { ++*this; }
    bool operator==(const iterator& other) const { return left_ == other.left_; }

   private:
    std::byte* at_ = nullptr;
    std::uint32_t left_ = 0;
  };

  explicit frame_block(std::byte* memory) : memory_(memory) {}
  frame_block(frame_block&& other) noexcept : memory_(std::exchange(other.memory_, nullptr)) {}
  frame_block& operator=(frame_block&& other) noexcept;
  frame_block(const frame_block&) = delete;
  frame_block& operator=(const frame_block&) = delete;
  ~frame_block() { give_back(); }

  [[nodiscard]] std::size_t size() const;
  /// Each frame can be read once: reading it moves its addresses.
  [[nodiscard]] iterator begin() const;
  [[nodiscard]] iterator end() const { return {}; }

 private:
  void give_back();
  std::byte* memory_;
};

class packet_ring final : public device {
 public:
  /// Errors: as `raw_socket::create_bound`; limit_exceeded when the rings need more memory than
  /// `most_ring_memory` or half of the machine's, or cannot be allocated.
  [[nodiscard]] static result<packet_ring> create_bound(std::string_view interface_name,
                                                        const packet_ring_options& options = {});
  packet_ring(packet_ring&&) noexcept = default;
  packet_ring& operator=(packet_ring&& other) noexcept;
  ~packet_ring() override = default;

  [[nodiscard]] const interface& link() const override { return link_; }
  void update_link(const interface& interface) override { link_ = interface; }
  [[nodiscard]] int fd() const override { return fd_.get(); }

  /// Returns the next block in place, or nullopt if none is full. Blocks may be given back in any
  /// order, but the kernel fills them in ring order: once the ring has gone round to a block that
  /// is still held, this returns nullopt, and arriving frames are dropped and counted until that
  /// block is given back. While the newest block is held, `fd()` polls as readable.
  [[nodiscard]] std::optional<frame_block> try_block();

  /// Copies each frame into a slot of the send ring, then notifies the kernel once. Frames that the
  /// kernel did not accept, for lack of room or because a frame is invalid, are removed from the
  /// ring.
  [[nodiscard]] result<std::size_t> try_send(std::span<const byte_span> frames) override;
  /// Copies frames out of their block, for callers that need a `device`; `try_block` copies
  /// nothing.
  [[nodiscard]] result<std::size_t> try_receive(std::span<frame_slot> slots) override;
  [[nodiscard]] result<device_statistics> statistics() override;

 private:
  packet_ring(interface link, unique_fd fd, mapping memory, const packet_ring_options& options);
  [[nodiscard]] bool fits(byte_span frame) const;
  [[nodiscard]] tpacket3_hdr& send_header(std::size_t ahead) const;
  [[nodiscard]] int kick();
  [[nodiscard]] std::size_t settle(std::size_t written);

  interface link_;
  unique_fd fd_;
  std::shared_ptr<card_stamps> stamps_;
  mapping memory_;
  std::size_t block_size_;
  std::size_t block_count_;
  std::size_t next_block_ = 0;
  std::byte* send_slots_ = nullptr;
  std::size_t send_slot_size_ = 0;
  std::size_t send_count_ = 0;
  std::size_t next_send_ = 0;
  device_statistics counted_;
  bool down_ = false;  // the link went down, and no frame has arrived since
  // The block that `try_receive` has read in part.
  std::optional<frame_block> open_;
  frame_block::iterator position_;
};

}  // namespace strata::l2
