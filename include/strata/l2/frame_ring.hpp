// Ethernet frames received through memory shared with the kernel (PACKET_MMAP, TPACKET_V2), one
// slot a frame: each is there as soon as the kernel has copied it. For those who spin, since
// looking costs no system call; who waits for many frames is better served by `packet_ring`. Needs
// CAP_NET_RAW. Linux 4.20 or newer.
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
  /// The largest frame that is not cut, without tags; 0 takes the interface's MTU and a header.
  std::size_t frame_size = 0;
};

/// A frame in its slot; goes back to the kernel when destroyed. Its bytes are valid until then.
/// Never outlives its ring.
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

/// Receives by the ring, and sends by system calls like a `raw_socket`.
class frame_ring final : public device {
 public:
  /// Errors: as `packet_ring::create_bound`.
  [[nodiscard]] static result<frame_ring> create_bound(std::string_view interface_name,
                                                       const frame_ring_options& options = {});
  frame_ring(frame_ring&&) noexcept = default;
  frame_ring& operator=(frame_ring&&) noexcept = default;
  ~frame_ring() override = default;

  [[nodiscard]] const interface& link() const override { return socket_.link(); }
  void update_link(const interface& now) override { socket_.update_link(now); }
  [[nodiscard]] int fd() const override { return socket_.fd(); }

  /// The next frame, in place; nullopt when none is there. Frames are given back in any order, but
  /// the kernel fills slots in theirs: when the ring has gone round to a frame that is still held,
  /// this gives nullopt and what arrives is dropped, and counted, until that one is given back.
  /// Hold few, and not for long, or copy. While the newest frame is held, `fd()` polls as readable.
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
  [[nodiscard]] result<device_statistics> statistics() override { return socket_.statistics(); }

 private:
  frame_ring(raw_socket socket, mapping memory, std::size_t slot_size, std::size_t slot_count)
      : socket_(std::move(socket)),
        memory_(std::move(memory)),
        slot_size_(slot_size),
        slot_count_(slot_count) {}

  raw_socket socket_;
  mapping memory_;
  std::size_t slot_size_;
  std::size_t slot_count_;
  std::size_t next_ = 0;
  bool down_ = false;  // the link went down, and nothing has come since
};

}  // namespace strata::l2
