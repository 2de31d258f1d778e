// What became of a frame that a raw socket was given to send, as the kernel tells it later, by the
// socket's error queue (packet(7), Documentation/networking/timestamping.rst, tc-etf(8)).
#pragma once

#include <cstdint>

namespace strata::l2 {

/// The clock by which times to send at are given (SO_TXTIME). It has to be the clock of the
/// queueing discipline: etf and taprio say which they have, fq has the monotonic one.
enum class send_clock : std::uint8_t {
  tai,        ///< CLOCK_TAI, which PTP sets; needs CAP_NET_ADMIN
  monotonic,  ///< CLOCK_MONOTONIC
};

struct sent_frame {
  enum class fate : std::uint8_t {
    sent,     ///< the driver has it, or the card has sent it: `time_ns` is when
    missed,   ///< dropped: `time_ns`, the time that it was to be sent at, was over
    refused,  ///< dropped: the discipline has another clock, or its time cannot be
  };
  fate what = fate::sent;
  /// Of a frame that was sent: how many the kernel had been given before it. What it then refused
  /// counts. Of others 0: their time tells which they are.
  std::uint32_t number = 0;
  /// Nanoseconds since 1970 of the kernel's or the card's clock; of frames that were dropped, of
  /// the clock of `raw_socket_options::send_times`.
  std::uint64_t time_ns = 0;
  /// The network card took the time, when the frame went on the wire, by its own clock. Else the
  /// kernel did, when the driver took the frame.
  bool is_card_time = false;
};

}  // namespace strata::l2
