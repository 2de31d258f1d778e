// What all that sends and receives Ethernet frames have in common: sockets, rings, decorators
// around them, and the fake pair for tests.
//
// A device owns no thread and never waits in its `try_` calls: poll its `fd()`, or use the waiting
// calls below. One thread at a time may send and one may receive.
#pragma once

#include <chrono>
#include <cstddef>
#include <cstdint>
#include <optional>
#include <span>

#include "strata/base/bytes.hpp"
#include "strata/base/result.hpp"
#include "strata/l2/interface.hpp"

namespace strata::l2 {

/// To whom a frame was addressed, as seen by the interface (packet(7), sll_pkttype).
enum class packet_type : std::uint8_t { host, broadcast, multicast, other_host, outgoing };

/// A received frame: its bytes with all VLAN tags, and what the kernel said of it.
struct received_frame {
  byte_span bytes;
  /// Its size on the wire, tags included; more than `bytes.size()` when it was truncated.
  std::size_t wire_size = 0;
  packet_type type = packet_type::host;
  /// Nanoseconds since 1970. Rings always tell; of a socket, 0 unless timestamps were asked for,
  /// and for the first frames after they were, since the kernel takes a moment to begin.
  std::uint64_t time_ns = 0;
  /// Where it came in, for sockets that hear more than one interface; of a ring 0.
  int interface_index = 0;
  /// The network card took the time, by its own clock, which PTP or nobody sets; else the kernel.
  bool is_card_time = false;

  [[nodiscard]] bool is_truncated() const { return wire_size > bytes.size(); }
};

/// Room for a frame to be received. The memory is the caller's; the frame lies somewhere within it,
/// since four bytes in front are kept free for the tag that the kernel took out.
struct frame_slot {
  mutable_byte_span memory;
  received_frame frame;
};

/// What a device counted since it was opened.
struct device_statistics {
  std::uint64_t received = 0;  ///< by the kernel's filter
  std::uint64_t dropped = 0;   ///< accepted, and lost since the receiver was too slow
};

class device {
 public:
  device() = default;
  device(const device&) = delete;
  device& operator=(const device&) = delete;
  virtual ~device() = default;

  /// The interface as it was when the device was opened, or as `update_link` was told.
  [[nodiscard]] virtual const interface& link() const = 0;
  /// Tells what is so of the interface now, as nl::route_watch hears it: another name, MTU or MAC.
  /// The device goes on; its errors' texts and the frames that it builds follow.
  virtual void update_link(const interface& interface) = 0;
  /// To wait on (POLLIN, POLLOUT); stays the device's. -1 for a device that is always ready.
  [[nodiscard]] virtual int fd() const = 0;

  /// Hands over frames, first to last, and returns how many were taken; 0 when there is no room
  /// now. The bytes are copied. Errors: of the first frame that was refused, if none was taken
  /// before it.
  [[nodiscard]] virtual result<std::size_t> try_send(std::span<const byte_span> frames) = 0;

  /// Fills slots, first to last, and returns how many; 0 when nothing is there now. Errors:
  /// connection_closed (ENETDOWN) once each time the link goes down; not_found (ENODEV) when the
  /// interface was removed.
  [[nodiscard]] virtual result<std::size_t> try_receive(std::span<frame_slot> slots) = 0;

  /// By the thread that receives, or while none does: rings and sockets add up what the kernel
  /// counted since the last call.
  [[nodiscard]] virtual result<device_statistics> statistics() { return device_statistics{}; }

 protected:
  device(device&&) = default;
  device& operator=(device&&) = default;
};

/// Waits until `device` can be read, for `timeout` at most (forever without one). False when it
/// could not. Interrupted waits go on.
[[nodiscard]] result<bool> wait_readable(const device& device,
                                         std::optional<std::chrono::milliseconds> timeout);
[[nodiscard]] result<bool> wait_writable(const device& device,
                                         std::optional<std::chrono::milliseconds> timeout);

/// Sends one frame, waiting for room if it must: in the socket's queue, and behind a queueing
/// discipline (tbf, taprio, cbs, etf) that is full, where it tries again after pauses of 50 us to
/// 5 ms, since the kernel tells nobody when there is room. Each of these tries is a drop in the
/// discipline's own count. Errors: timed_out, and those of `try_send`.
[[nodiscard]] result<void> send_frame(
    device& device, byte_span frame,
    std::optional<std::chrono::milliseconds> timeout = std::nullopt);

/// The next frame, in `memory`. Errors: timed_out, and those of `try_receive`.
[[nodiscard]] result<received_frame> receive_frame(
    device& device, mutable_byte_span memory,
    std::optional<std::chrono::milliseconds> timeout = std::nullopt);

}  // namespace strata::l2
