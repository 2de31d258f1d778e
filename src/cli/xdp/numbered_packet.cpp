#include "cli/xdp/numbered_packet.hpp"

#include <algorithm>

#include "strata/wire/big_endian.hpp"
#include "strata/wire/checksum.hpp"
#include "strata/wire/ethernet.hpp"

namespace strata::cli {

namespace {

constexpr std::size_t udp_at = wire::ethernet_header_size + wire::ipv4_header_size;
constexpr std::size_t checksum_at = udp_at + 6;
constexpr std::size_t number_at = udp_at + wire::udp_header_size;

}  // namespace

result<numbered_packet> numbered_packet::create(const mac_address& address,
                                                const mac_address& source,
                                                const wire::udp_endpoint& receiver,
                                                const wire::udp_endpoint& sender,
                                                std::size_t frame_size) {
  const std::vector<std::byte> payload(std::max(frame_size, wire::min_frame_size) - number_at);
  std::vector<std::byte> packet(wire::ipv4_header_size + wire::udp_header_size + payload.size());
  auto built = wire::build_udp_packet_into(packet, sender, receiver, payload);
  if (!built) return std::unexpected(built.error());
  auto frame =
      wire::build_simple_frame(address, source, wire::ethertype_ipv4, packet, wire::max_mtu);
  if (!frame) return std::unexpected(frame.error());
  const auto checksum = wire::read_u16(byte_span(*frame).subspan<checksum_at, 2>());
  return numbered_packet(std::move(*frame), static_cast<std::uint16_t>(~checksum));
}

void numbered_packet::number(mutable_byte_span copy, std::uint64_t number) const {
  auto sum = sum_;
  for (unsigned i = 0; i < number_size; i += 2) {
    sum += (number >> (48U - 8U * i)) & 0xFFFFU;
  }
  const auto checksum = wire::finish_sum(sum);
  wire::write_u64(copy.subspan<number_at, 8>(), number);
  // 0 would mean that there is no checksum (RFC 768).
  wire::write_u16(copy.subspan<checksum_at, 2>(), checksum == 0 ? 0xFFFF : checksum);
}

}  // namespace strata::cli
