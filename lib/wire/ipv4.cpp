#include "strata/wire/ipv4.hpp"

#include <algorithm>
#include <charconv>

#include "strata/wire/big_endian.hpp"
#include "strata/wire/checksum.hpp"

namespace strata::wire {

namespace {

constexpr std::size_t max_packet_size = 65535;
constexpr std::byte version_and_size{0x45};
constexpr std::byte do_not_fragment{0x40};

}  // namespace

result<ipv4_address> ipv4_address::from_text(std::string_view text) {
  ipv4_address made;
  const char* at = text.data();
  const char* const end = text.data() + text.size();
  for (std::size_t i = 0; i < made.octets.size(); ++i) {
    const bool dot = i == 0 || (at != end && *at == '.');
    if (i != 0 && dot) ++at;
    const auto [rest, code] = std::from_chars(at, end, made.octets[i]);
    if (!dot || code != std::errc{}) {
      return failure(errc::invalid_argument, "use IPv4 address '" + std::string(text) + "'", {},
                     "write four numbers from 0 to 255: 192.0.2.1");
    }
    at = rest;
  }
  if (at != end) {
    return failure(errc::invalid_argument, "use IPv4 address '" + std::string(text) + "'",
                   "extra characters follow it", "write four numbers from 0 to 255: 192.0.2.1");
  }
  return made;
}

std::string ipv4_address::text() const {
  std::string made;
  for (const auto octet : octets) {
    if (!made.empty()) made += '.';
    made += std::to_string(octet);
  }
  return made;
}

std::optional<ipv4_view> ipv4_view::parse(byte_span packet) {
  if (packet.size() < ipv4_header_size) return std::nullopt;
  const ipv4_view made(packet);
  if (made.octet(0) >> 4U != 4) return std::nullopt;
  const auto size = made.header_size();
  if (size < ipv4_header_size || size > packet.size()) return std::nullopt;
  return made;
}

std::size_t ipv4_view::total_size() const { return read_u16(packet_.subspan<2, 2>()); }

std::size_t ipv4_view::fragment_offset() const {
  return (read_u16(packet_.subspan<6, 2>()) & 0x1FFFU) * std::size_t{8};
}

bool ipv4_view::is_checksum_right() const {
  return finish_sum(add_to_sum(packet_.first(header_size()))) == 0;
}

byte_span ipv4_view::payload() const {
  const auto end = std::clamp(total_size(), header_size(), packet_.size());
  return packet_.subspan(header_size(), end - header_size());
}

result<void> write_ipv4_header(mutable_byte_span memory, const ipv4_header& header,
                               std::size_t payload_size) {
  if (memory.size() < ipv4_header_size || payload_size > max_packet_size - ipv4_header_size) {
    return failure(errc::limit_exceeded,
                   "write an IPv4 header for " + std::to_string(payload_size) + " bytes",
                   "a packet has at most 65535 bytes, and its header needs 20");
  }
  const auto out = memory.first<ipv4_header_size>();
  std::ranges::fill(out, std::byte{0});
  out[0] = version_and_size;
  write_u16(out.subspan<2, 2>(), static_cast<std::uint16_t>(ipv4_header_size + payload_size));
  write_u16(out.subspan<4, 2>(), header.identification);
  out[6] = do_not_fragment;
  out[8] = static_cast<std::byte>(header.time_to_live);
  out[9] = static_cast<std::byte>(header.protocol);
  copy_bytes(std::as_bytes(std::span(header.source.octets)), out.subspan<12>());
  copy_bytes(std::as_bytes(std::span(header.destination.octets)), out.subspan<16>());
  write_u16(out.subspan<10, 2>(), finish_sum(add_to_sum(out)));
  return {};
}

}  // namespace strata::wire
