// UDP packets in Ethernet frames that differ by a number in their payload, for load: the checksum
// is updated by adding the number, without reading the packet again.
#pragma once

#include <cstdint>
#include <vector>

#include "strata/base/mac_address.hpp"
#include "strata/wire/udp.hpp"

namespace strata::cli {

class numbered_packet {
 public:
  /// Size of the number in the payload, in network byte order.
  static constexpr std::size_t number_size = 8;

  /// `frame_size` is at least 60, without FCS. Errors: limit_exceeded.
  [[nodiscard]] static result<numbered_packet> create(const mac_address& address,
                                                      const mac_address& source,
                                                      const wire::udp_endpoint& receiver,
                                                      const wire::udp_endpoint& sender,
                                                      std::size_t frame_size);

  [[nodiscard]] byte_span frame() const { return frame_; }
  /// Writes the number into a copy of the frame.
  void number(mutable_byte_span copy, std::uint64_t number) const;

 private:
  numbered_packet(std::vector<std::byte> frame, std::uint64_t sum)
      : frame_(std::move(frame)), sum_(sum) {}

  std::vector<std::byte> frame_;  // the frame with number 0
  std::uint64_t sum_;             // the UDP checksum's sum for number 0
};

}  // namespace strata::cli
