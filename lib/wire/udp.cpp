#include "strata/wire/udp.hpp"

#include <algorithm>

#include "strata/wire/big_endian.hpp"
#include "strata/wire/checksum.hpp"

namespace strata::wire {

namespace {

// Returns the sum of the pseudo header: addresses, protocol and length.
std::uint64_t start_sum(const ipv4_address& source, const ipv4_address& destination,
                        std::size_t length) {
  const auto sum = add_to_sum(std::as_bytes(std::span(source.octets)),
                              add_to_sum(std::as_bytes(std::span(destination.octets))));
  return sum + protocol_udp + length;
}

}  // namespace

std::optional<udp_view> udp_view::parse(byte_span datagram) {
  if (datagram.size() < udp_header_size) return std::nullopt;
  const udp_view made(datagram);
  if (made.length() < udp_header_size) return std::nullopt;
  return made;
}

std::uint16_t udp_view::source_port() const { return read_u16(datagram_.first<2>()); }
std::uint16_t udp_view::destination_port() const { return read_u16(datagram_.subspan<2, 2>()); }
std::size_t udp_view::length() const { return read_u16(datagram_.subspan<4, 2>()); }

byte_span udp_view::payload() const {
  return datagram_.first(std::min(length(), datagram_.size())).subspan(udp_header_size);
}

bool udp_view::is_checksum_right(const ipv4_address& source,
                                 const ipv4_address& destination) const {
  if (read_u16(datagram_.subspan<6, 2>()) == 0) return true;
  if (length() > datagram_.size()) return false;
  return finish_sum(
             add_to_sum(datagram_.first(length()), start_sum(source, destination, length()))) == 0;
}

result<std::size_t> build_udp_packet_into(mutable_byte_span memory, const udp_endpoint& endpoint,
                                          const udp_endpoint& destination, byte_span payload) {
  const auto length = udp_header_size + payload.size();
  const auto size = ipv4_header_size + length;
  if (memory.size() < size) {
    return failure(errc::limit_exceeded, "build a UDP packet of " + std::to_string(size) + " bytes",
                   "the memory size is " + std::to_string(memory.size()));
  }
  const ipv4_header header{.source = endpoint.address, .destination = destination.address};
  if (auto written = write_ipv4_header(memory, header, length); !written) {
    return std::unexpected(written.error());
  }
  const auto datagram = memory.subspan(ipv4_header_size, length);
  write_u16(datagram.first<2>(), endpoint.port);
  write_u16(datagram.subspan<2, 2>(), destination.port);
  write_u16(datagram.subspan<4, 2>(), static_cast<std::uint16_t>(length));
  write_u16(datagram.subspan<6, 2>(), 0);
  copy_bytes(payload, datagram.subspan(udp_header_size));
  const auto sum =
      finish_sum(add_to_sum(datagram, start_sum(endpoint.address, destination.address, length)));
  // A sum of 0 is sent in its other form, since 0 means no checksum.
  write_u16(datagram.subspan<6, 2>(), sum == 0 ? 0xFFFF : sum);
  return size;
}

}  // namespace strata::wire
