// UDP over IPv4 (RFC 768): a checked view, and whole packets with both checksums.
#pragma once

#include <cstddef>
#include <cstdint>
#include <optional>

#include "strata/base/bytes.hpp"
#include "strata/base/result.hpp"
#include "strata/wire/ipv4.hpp"

namespace strata::wire {

inline constexpr std::size_t udp_header_size = 8;

/// A view of a datagram in place; valid as long as its bytes.
class udp_view {
 public:
  /// Parses an IPv4 packet's payload. Returns nullopt if it ends within its header, or its length
  /// is smaller than its header.
  [[nodiscard]] static std::optional<udp_view> parse(byte_span datagram);

  [[nodiscard]] std::uint16_t source_port() const;
  [[nodiscard]] std::uint16_t destination_port() const;
  /// The size of header and payload according to the header; the bytes may be fewer.
  [[nodiscard]] std::size_t length() const;
  [[nodiscard]] byte_span payload() const;
  /// Also true if the sender omitted the checksum (0).
  [[nodiscard]] bool is_checksum_right(const ipv4_address& source,
                                       const ipv4_address& destination) const;

 private:
  explicit udp_view(byte_span datagram) : datagram_(datagram) {}
  byte_span datagram_;
};

struct udp_endpoint {
  ipv4_address address;
  std::uint16_t port = 0;
};

/// Writes the IPv4 and UDP headers and the payload to the front of `memory`, with checksums, and
/// returns the packet's size. Errors: limit_exceeded, as `write_ipv4_header`.
[[nodiscard]] result<std::size_t> build_udp_packet_into(mutable_byte_span memory,
                                                        const udp_endpoint& endpoint,
                                                        const udp_endpoint& destination,
                                                        byte_span payload);

}  // namespace strata::wire
