// The handshake of a hybrid endpoint's two ends over TCP, before they use raw Ethernet: each sends
// one greeting of fixed size, the server second.
//
//      0  "strata-h"                    8 bytes
//      8  version                       u16
//     10  role (1 client, 2 server)     u16
//     12  session                       u64, chosen by the server; 0 in the client's
//     20  MAC address                   6 bytes
//     26  EtherType                     u16
//     28  VLAN id, 0xFFFF for none      u16
//     30  MTU                           u16
//
// Also the header of each data frame's payload: session (u64), and size of the message (u16), since
// short frames are padded. All numbers are in network order. Sans-I/O and total.
#pragma once

#include <array>
#include <cstddef>
#include <cstdint>
#include <optional>

#include "strata/base/bytes.hpp"
#include "strata/base/mac_address.hpp"
#include "strata/base/result.hpp"

namespace strata::wire {

inline constexpr std::uint16_t hybrid_version = 1;

struct hybrid_greeting {
  static constexpr std::size_t size = 32;
  enum class end : std::uint16_t { client = 1, server = 2 };

  end role = end::client;
  std::uint64_t session = 0;
  mac_address mac;
  std::uint16_t ethertype = 0;
  std::optional<std::uint16_t> vlan_id;
  std::uint16_t mtu = 0;

  /// Errors: malformed if the bytes are no greeting, or an impossible one (a group address, a
  /// session before there is one); not_supported, naming the version, if it is of another version.
  [[nodiscard]] static result<hybrid_greeting> parse(std::span<const std::byte, size> bytes);
  [[nodiscard]] std::array<std::byte, size> build() const;

  bool operator==(const hybrid_greeting&) const = default;
};

/// The header of a data frame's payload.
struct hybrid_data {
  static constexpr std::size_t head_size = 10;

  std::uint64_t session = 0;
  byte_span message;

  /// Returns nullopt if the payload is truncated.
  [[nodiscard]] static std::optional<hybrid_data> parse(byte_span payload);
  /// Writes header and message to the front of `memory`, which has room for both; the message has
  /// at most 65,535 bytes. Returns the size.
  std::size_t write(mutable_byte_span memory) const;
};

}  // namespace strata::wire
