// The interface common to everything that sends and receives Ethernet frames: sockets, rings,
// decorators around them, and the fake pair for tests.
//
// A device owns no thread, and its `try_` calls never block: poll its `fd()`, or use the blocking
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

/// The addressee of a frame, as seen by the interface (packet(7), sll_pkttype).
enum class packet_type : std::uint8_t { host, broadcast, multicast, other_host, outgoing };

/// A received frame: its bytes with all VLAN tags, and the kernel's metadata.
struct received_frame {
  byte_span bytes;
  /// The size on the wire, tags included; greater than `bytes.size()` if the frame was truncated.
  std::size_t wire_size = 0;
  packet_type type = packet_type::host;
  /// Nanoseconds since 1970. Rings always set it. A socket leaves it 0 unless timestamps were
  /// requested, and also for the first frames after the request, since the kernel takes a moment to
  /// start.
  std::uint64_t time_ns = 0;
  /// The receiving interface, for sockets that receive from more than one; 0 with rings.
  int interface_index = 0;
  /// The network card took the time by its own clock, which PTP may or may not set; otherwise the
  /// kernel did.
  bool is_card_time = false;

  [[nodiscard]] bool is_truncated() const { return wire_size > bytes.size(); }
};

/// Memory for a frame to receive. The memory belongs to the caller; the frame lies somewhere within
/// it, since four bytes in front are reserved for the tag that the kernel removed.
struct frame_slot {
  mutable_byte_span memory;
  received_frame frame;
};

/// Counters of a device since it was opened.
struct device_statistics {
  std::uint64_t received = 0;  ///< accepted by the kernel's filter
  std::uint64_t dropped = 0;   ///< accepted, but lost because the receiver was too slow
};

class device {
 public:
  device() = default;
  device(const device&) = delete;
  device& operator=(const device&) = delete;
  virtual ~device() = default;

  /// Returns the interface as it was when the device was opened, or as last passed to
  /// `update_link`.
  [[nodiscard]] virtual const interface& link() const = 0;
  /// Sets the current state of the interface (a new name, MTU or MAC), as nl::route_watch reports
  /// it. The device continues; its error texts and the frames that it builds use the new state.
  virtual void update_link(const interface& interface) = 0;
  /// Returns the descriptor to poll (POLLIN, POLLOUT), which the device keeps. -1 for a device that
  /// is always ready.
  [[nodiscard]] virtual int fd() const = 0;

  /// Sends frames in order and returns how many were accepted; 0 if there is no room now. Copies
  /// the bytes. Errors: that of the first rejected frame, if no frame was accepted before it.
  [[nodiscard]] virtual result<std::size_t> try_send(std::span<const byte_span> frames) = 0;

  /// Fills slots in order and returns how many; 0 if no frame is waiting. Errors: connection_closed
  /// (ENETDOWN) once each time the link goes down; not_found (ENODEV) when the interface was
  /// removed.
  [[nodiscard]] virtual result<std::size_t> try_receive(std::span<frame_slot> slots) = 0;

  /// Returns the counters. Called by the thread that receives, or while none does: rings and
  /// sockets add what the kernel counted since the last call.
  [[nodiscard]] virtual result<device_statistics> statistics() { return device_statistics{}; }

 protected:
  device(device&&) = default;
  device& operator=(device&&) = default;
};

/// Waits until `device` is readable, for at most `timeout` (forever without one). Returns false on
/// timeout. Resumes when a signal interrupts it.
[[nodiscard]] result<bool> wait_readable(const device& device,
                                         std::optional<std::chrono::milliseconds> timeout);
[[nodiscard]] result<bool> wait_writable(const device& device,
                                         std::optional<std::chrono::milliseconds> timeout);

/// Sends one frame, waiting for room if necessary: in the socket's queue, or in a full queueing
/// discipline (tbf, taprio, cbs, etf). The kernel reports no room in a discipline, so this retries
/// after pauses of 50 us to 5 ms; the discipline counts each retry as a drop. Errors: timed_out,
/// and those of `try_send`.
[[nodiscard]] result<void> send_frame(
    device& device, byte_span frame,
    std::optional<std::chrono::milliseconds> timeout = std::nullopt);

/// Receives the next frame into `memory`. Errors: timed_out, and those of `try_receive`.
[[nodiscard]] result<received_frame> receive_frame(
    device& device, mutable_byte_span memory,
    std::optional<std::chrono::milliseconds> timeout = std::nullopt);

}  // namespace strata::l2
