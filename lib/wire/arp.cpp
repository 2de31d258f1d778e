#include "strata/wire/arp.hpp"

#include <algorithm>

#include "strata/wire/big_endian.hpp"
#include "strata/wire/ethernet.hpp"

namespace strata::wire {

namespace {

constexpr std::uint32_t ethernet_and_ipv4 = 1U << 16U | ethertype_ipv4;
constexpr std::uint16_t address_sizes = 6U << 8U | 4U;

ipv4_address ipv4_at(byte_span packet, std::size_t offset) {
  ipv4_address made;
  std::ranges::transform(packet.subspan(offset, 4), made.octets.begin(),
                         [](std::byte each) { return std::to_integer<std::uint8_t>(each); });
  return made;
}

}  // namespace

std::optional<arp> arp::parse(byte_span packet) {
  if (packet.size() < arp_size) return std::nullopt;
  if (read_u32(packet.first<4>()) != ethernet_and_ipv4) return std::nullopt;
  if (read_u16(packet.subspan<4, 2>()) != address_sizes) return std::nullopt;
  return arp{.operation = read_u16(packet.subspan<6, 2>()),
             .sender_mac = mac_address(packet.subspan<8, mac_address::size>()),
             .sender = ipv4_at(packet, 14),
             .target_mac = mac_address(packet.subspan<18, mac_address::size>()),
             .target = ipv4_at(packet, 24)};
}

result<void> arp::write(mutable_byte_span memory) const {
  if (memory.size() < arp_size) {
    return failure(errc::limit_exceeded,
                   "write an ARP packet into " + std::to_string(memory.size()) + " bytes",
                   "it needs 28");
  }
  write_u32(memory.first<4>(), ethernet_and_ipv4);
  write_u16(memory.subspan<4, 2>(), address_sizes);
  write_u16(memory.subspan<6, 2>(), operation);
  auto rest = copy_bytes(sender_mac.bytes(), memory.subspan(8));
  rest = copy_bytes(std::as_bytes(std::span(sender.octets)), rest);
  rest = copy_bytes(target_mac.bytes(), rest);
  copy_bytes(std::as_bytes(std::span(target.octets)), rest);
  return {};
}

}  // namespace strata::wire
