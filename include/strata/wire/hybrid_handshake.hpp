// What the two ends of a hybrid endpoint tell each other over TCP before they speak raw Ethernet:
// each sends one greeting of fixed size, the server's second.
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
// And the head of each data frame's payload: session (u64), size of the message (u16), since short
// frames are padded. All numbers in network order. Sans-I/O and total.
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

  /// Errors: malformed, when it is no greeting or one that nobody can send (a group address, a
  /// session where there is none yet); not_supported, naming the version, when it is of another.
  [[nodiscard]] static result<hybrid_greeting> parse(std::span<const std::byte, size> bytes);
  [[nodiscard]] std::array<std::byte, size> build() const;

  bool operator==(const hybrid_greeting&) const = default;
};

/// The head of a data frame's payload.
struct hybrid_data {
  static constexpr std::size_t head_size = 10;

  std::uint64_t session = 0;
  byte_span message;

  /// nullopt when it is cut.
  [[nodiscard]] static std::optional<hybrid_data> parse(byte_span payload);
  /// Writes head and message to the front of `memory`, which has room for both; the message has at
  /// most 65,535 bytes. Returns the size.
  std::size_t write(mutable_byte_span memory) const;
};

}  // namespace strata::wire
