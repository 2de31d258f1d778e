// Generic netlink: the header of its messages (include/uapi/linux/genetlink.h).
#pragma once

#include <cstddef>
#include <cstdint>
#include <optional>

#include "strata/wire/netlink.hpp"

namespace strata::wire {

/// A message of a generic family that has no header of its own.
struct genl_message {
  static constexpr std::size_t header_size = 4;

  std::uint8_t command = 0;
  std::uint8_t version = 0;
  netlink_attributes attributes;

  /// Returns nullopt if the message ends within its header.
  [[nodiscard]] static std::optional<genl_message> parse(const netlink_message& message);
};

/// Begins a request to the family with the number `family`.
netlink_writer& begin_genl(netlink_writer& writer, std::uint16_t family, std::uint16_t flags,
                           std::uint8_t command, std::uint8_t version);

}  // namespace strata::wire
