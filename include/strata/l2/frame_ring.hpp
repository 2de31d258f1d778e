// Ethernet frames received through memory shared with the kernel (PACKET_MMAP, TPACKET_V2), one
// slot per frame: each frame is available as soon as the kernel has copied it. For busy polling,
// since a check costs no system call; a receiver that waits for many frames is better served by
// `packet_ring`. Needs CAP_NET_RAW. Linux 4.20 or newer.
#pragma once

#include <cstddef>
#include <optional>
#include <string_view>

#include "strata/base/mapping.hpp"
#include "strata/base/unique_fd.hpp"
#include "strata/l2/raw_socket.hpp"

namespace strata::l2 {

struct frame_ring_options {
  raw_socket_options socket;
  std::size_t slots = 1024;
  /// The largest frame that is not truncated, without tags; 0 means the interface's MTU plus a
  /// header, and follows a growing MTU.
  std::size_t frame_size = 0;
  /// If not 0, the bytes for slots, instead of `slots`; there are at least 16 slots.
  std::size_t memory = 0;
};

/// A frame in its slot; the destructor returns the slot to the kernel. The bytes are valid until
/// then. Must not outlive its ring.
class ring_frame {
 public:
  ring_frame(std::byte* slot, const received_frame& frame) : slot_(slot), frame_(frame) {}
  ring_frame(ring_frame&& other) noexcept
      : slot_(std::exchange(other.slot_, nullptr)), frame_(other.frame_) {}
  ring_frame& operator=(ring_frame&& other) noexcept;
  ring_frame(const ring_frame&) = delete;
  ring_frame& operator=(const ring_frame&) = delete;
  ~ring_frame() { give_back(); }

  [[nodiscard]] const received_frame& operator*() const { return frame_; }
  [[nodiscard]] const received_frame* operator->() const { return &frame_; }

 private:
  void give_back();
  std::byte* slot_;
  received_frame frame_;
};

/// Receives through the ring, and sends by system calls like a `raw_socket`.
class frame_ring final : public device {
 public:
  /// Errors: as `packet_ring::create_bound`.
  [[nodiscard]] static result<frame_ring> create_bound(std::string_view interface_name,
                                                       const frame_ring_options& options = {});
  frame_ring(frame_ring&&) noexcept = default;
  frame_ring& operator=(frame_ring&&) noexcept = default;
  ~frame_ring() override = default;

  [[nodiscard]] const interface& link() const override { return socket_.link(); }
  /// If the MTU has grown beyond the slots, replaces them by larger slots: unread frames are
  /// dropped and counted. No frame may be held meanwhile. If there is no memory for larger slots,
  /// longer frames are truncated; if there is none for any slots, `try_receive` returns an error.
  void update_link(const interface& interface) override;
  [[nodiscard]] int fd() const override { return socket_.fd(); }

  /// Returns the next frame in place, or nullopt if there is none. Frames may be given back in any
  /// order, but the kernel fills slots in ring order: once the ring has gone round to a frame that
  /// is still held, this returns nullopt, and arriving frames are dropped and counted until that
  /// frame is given back. Hold few frames, and briefly, or copy them. While the newest frame is
  /// held, `fd()` polls as readable.
  [[nodiscard]] std::optional<ring_frame> try_frame();

  [[nodiscard]] result<void> send_raw(
      byte_span frame, std::optional<std::chrono::milliseconds> timeout = std::nullopt) {
    return socket_.send_raw(frame, timeout);
  }
  [[nodiscard]] result<std::size_t> try_send(std::span<const byte_span> frames) override {
    return socket_.try_send(frames);
  }
  /// Copies frames out of the ring; `try_frame` copies nothing.
  [[nodiscard]] result<std::size_t> try_receive(std::span<frame_slot> slots) override;
  [[nodiscard]] result<device_statistics> statistics() override;

 private:
  /// The requested slots.
  struct wishes {
    std::size_t slots;
    std::size_t frame_size;
    std::size_t memory;
  };
  struct slot_memory {
    mapping memory;
    std::size_t size = 0;
    std::size_t count = 0;
  };
  frame_ring(raw_socket socket, slot_memory memory, const wishes& wishes)
      : socket_(std::move(socket)), slots_(std::move(memory)), wanted_(wishes) {}
  [[nodiscard]] static std::size_t slot_size_for(const interface& interface, const wishes& wishes);
  [[nodiscard]] static result<slot_memory> make_slots(const raw_socket& socket,
                                                      const wishes& wishes);
  [[nodiscard]] std::byte* slot(std::size_t index) const {
    return slots_.memory.bytes().data() + index * slots_.size;
  }

  raw_socket socket_;
  slot_memory slots_;
  wishes wanted_;
  std::size_t next_ = 0;
  std::uint64_t lost_ = 0;         // unread when the slots were replaced
  std::optional<error> ringless_;  // why there are no slots any more
  bool down_ = false;              // the link went down, and no frame has arrived since
};

}  // namespace strata::l2
