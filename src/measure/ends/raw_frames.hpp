// The Ethernet frames of the raw paths: built for senders, and parsed for the tally.
#pragma once

#include <cstddef>
#include <cstdint>

#include "measure/counting/message.hpp"
#include "measure/counting/tally.hpp"
#include "measure/ends/end.hpp"
#include "strata/l2/interface.hpp"
#include "strata/wire/ethernet.hpp"

namespace strata::measure {

inline constexpr std::uint16_t frame_ethertype = wire::ethertype_experimental;

/// Builds `count` frames from that interface to the peer, into which messages are written.
[[nodiscard]] result<message_batch> make_frames(const l2::interface& interface,
                                                const end_options& options, std::size_t count);

class frame_taker {
 public:
  explicit frame_taker(const end_options& options);
  void take(byte_span frame, tally& tally) const;

 private:
  std::size_t header_;
  std::size_t payload_;
};

}  // namespace strata::measure
