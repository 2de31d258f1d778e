// UDP packets in Ethernet frames that differ by a number in their payload, for load: the checksum
// follows the number by adding, not by reading the packet again.
#pragma once

#include <cstdint>
#include <vector>

#include "strata/base/mac_address.hpp"
#include "strata/wire/udp.hpp"

namespace strata::cli {

class numbered_packet {
 public:
  /// Where the number stands in the payload, in network order.
  static constexpr std::size_t number_size = 8;

  /// `frame_size` is from 60 on, without FCS. Errors: limit_exceeded.
  [[nodiscard]] static result<numbered_packet> create(const mac_address& address,
                                                      const mac_address& source,
                                                      const wire::udp_endpoint& receiver,
                                                      const wire::udp_endpoint& sender,
                                                      std::size_t frame_size);

  [[nodiscard]] byte_span frame() const { return frame_; }
  /// Gives a copy of the frame its number.
  void number(mutable_byte_span copy, std::uint64_t number) const;

 private:
  numbered_packet(std::vector<std::byte> frame, std::uint64_t sum)
      : frame_(std::move(frame)), sum_(sum) {}

  std::vector<std::byte> frame_;  // of number 0
  std::uint64_t sum_;             // of the UDP checksum of number 0
};

}  // namespace strata::cli
