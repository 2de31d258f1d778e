// The outcome of a frame sent through a raw socket, as the kernel reports it later through the
// socket's error queue (packet(7), Documentation/networking/timestamping.rst, tc-etf(8)).
#pragma once

#include <cstdint>

namespace strata::l2 {

/// The clock of send times (SO_TXTIME). It must be the clock of the queueing discipline: etf and
/// taprio report theirs, fq uses the monotonic clock.
enum class send_clock : std::uint8_t {
  tai,        ///< CLOCK_TAI, which PTP sets; needs CAP_NET_ADMIN
  monotonic,  ///< CLOCK_MONOTONIC
};

struct sent_frame {
  enum class fate : std::uint8_t {
    sent,     ///< the driver accepted it, or the card sent it, at `time_ns`
    missed,   ///< dropped: its send time, `time_ns`, had passed
    refused,  ///< dropped: the discipline has another clock, or the time is impossible
  };
  fate what = fate::sent;
  /// For a frame that was sent: the number of frames passed to the kernel before it, including
  /// those that it rejected. 0 for dropped frames: their time identifies them.
  std::uint32_t number = 0;
  /// Nanoseconds since 1970 by the kernel's or the card's clock; for dropped frames, by the clock
  /// of `raw_socket_options::send_times`.
  std::uint64_t time_ns = 0;
  /// The network card took the time by its own clock when the frame went on the wire. Otherwise the
  /// kernel took it when the driver accepted the frame.
  bool is_card_time = false;
};

}  // namespace strata::l2
