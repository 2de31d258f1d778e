// ARP for IPv4 over Ethernet (RFC 826): a value, parsed and written.
#pragma once

#include <cstddef>
#include <cstdint>
#include <optional>

#include "strata/base/bytes.hpp"
#include "strata/base/mac_address.hpp"
#include "strata/base/result.hpp"
#include "strata/wire/ipv4.hpp"

namespace strata::wire {

inline constexpr std::size_t arp_size = 28;

struct arp {
  static constexpr std::uint16_t request = 1;
  static constexpr std::uint16_t reply = 2;

  std::uint16_t operation = request;
  mac_address sender_mac;
  ipv4_address sender;
  mac_address target_mac;
  ipv4_address target;

  /// Returns nullopt if the packet is too short, or is for another hardware or protocol.
  [[nodiscard]] static std::optional<arp> parse(byte_span packet);
  /// Errors: limit_exceeded if `memory` has fewer than 28 bytes.
  [[nodiscard]] result<void> write(mutable_byte_span memory) const;
  bool operator==(const arp&) const = default;
};

}  // namespace strata::wire
