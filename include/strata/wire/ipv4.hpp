// IPv4 headers (RFC 791) and addresses: a checked view, and a writer for headers without options.
#pragma once

#include <array>
#include <compare>
#include <cstddef>
#include <cstdint>
#include <optional>
#include <string>
#include <string_view>

#include "strata/base/bytes.hpp"
#include "strata/base/result.hpp"

namespace strata::wire {

struct ipv4_address {
  std::array<std::uint8_t, 4> octets{};

  /// "192.0.2.1". Errors: invalid_argument, naming `text`.
  [[nodiscard]] static result<ipv4_address> from_text(std::string_view text);
  [[nodiscard]] std::string text() const;
  constexpr auto operator<=>(const ipv4_address&) const = default;
};

inline constexpr std::size_t ipv4_header_size = 20;
inline constexpr std::uint8_t protocol_icmp = 1;
inline constexpr std::uint8_t protocol_tcp = 6;
inline constexpr std::uint8_t protocol_udp = 17;

/// A view of a packet in place; valid as long as its bytes.
class ipv4_view {
 public:
  /// Returns nullopt if the packet is not version 4, or ends within its header.
  [[nodiscard]] static std::optional<ipv4_view> parse(byte_span packet);

  [[nodiscard]] ipv4_address source() const { return address_at(12); }
  [[nodiscard]] ipv4_address destination() const { return address_at(16); }
  [[nodiscard]] std::uint8_t protocol() const { return octet(9); }
  [[nodiscard]] std::uint8_t time_to_live() const { return octet(8); }
  [[nodiscard]] std::size_t header_size() const { return (octet(0) & 0x0FU) * std::size_t{4}; }
  /// The size of the whole packet according to the header; the bytes may be fewer, or have padding
  /// behind.
  [[nodiscard]] std::size_t total_size() const;
  /// In bytes; 0 only for the first fragment.
  [[nodiscard]] std::size_t fragment_offset() const;
  [[nodiscard]] bool has_more_fragments() const { return (octet(6) & 0x20U) != 0; }
  [[nodiscard]] bool is_checksum_right() const;
  /// The payload as far as it is present, without padding.
  [[nodiscard]] byte_span payload() const;

 private:
  explicit ipv4_view(byte_span packet) : packet_(packet) {}
  [[nodiscard]] std::uint8_t octet(std::size_t offset) const {
    return std::to_integer<std::uint8_t>(packet_[offset]);
  }
  [[nodiscard]] ipv4_address address_at(std::size_t offset) const {
    return {{octet(offset), octet(offset + 1), octet(offset + 2), octet(offset + 3)}};
  }

  byte_span packet_;
};

struct ipv4_header {
  ipv4_address source;
  ipv4_address destination;
  std::uint8_t protocol = protocol_udp;
  std::uint8_t time_to_live = 64;
  std::uint16_t identification = 0;
};

/// Writes a header of 20 bytes, with its checksum and "don't fragment", for a payload of
/// `payload_size` bytes. Errors: limit_exceeded if `memory` is smaller or the packet is above
/// 65,535 bytes.
[[nodiscard]] result<void> write_ipv4_header(mutable_byte_span memory, const ipv4_header& header,
                                             std::size_t payload_size);

}  // namespace strata::wire
