#include "strata/wire/ipv4.hpp"

#include <gtest/gtest.h>

#include <algorithm>
#include <random>
#include <vector>

#include "strata/wire/arp.hpp"
#include "strata/wire/checksum.hpp"
#include "strata/wire/udp.hpp"

namespace strata::wire {
namespace {

const udp_endpoint from{{{192, 0, 2, 1}}, 1234};
const udp_endpoint to{{{192, 0, 2, 2}}, 9};

TEST(ipv4, addresses_are_read_and_written) {
  EXPECT_EQ(ipv4_address::from_text("192.0.2.1")->text(), "192.0.2.1");
  for (const char* wrong :
       {"", "1.2.3", "1.2.3.4.5", "256.1.1.1", "1.2.3.4 ", "a.b.c.d", "1..2.3"}) {
    EXPECT_FALSE(ipv4_address::from_text(wrong)) << wrong;
  }
}

TEST(ipv4, the_checksum_is_that_of_rfc_1071) {
  // The example of section 3 of the RFC: sum ddf2, checksum 220d.
  const std::array<std::uint8_t, 8> bytes{0x00, 0x01, 0xf2, 0x03, 0xf4, 0xf5, 0xf6, 0xf7};
  EXPECT_EQ(finish_sum(add_to_sum(std::as_bytes(std::span(bytes)))), 0x220D);
}

TEST(udp, a_packet_is_built_and_read_again) {
  for (std::size_t size : {0U, 1U, 2U, 999U}) {
    std::vector<std::byte> payload(size, std::byte{0xA5});
    std::vector<std::byte> memory(2000);
    const auto built = build_udp_packet_into(memory, from, to, payload);
    ASSERT_TRUE(built);
    const auto packet = ipv4_view::parse(byte_span(memory).first(*built));
    ASSERT_TRUE(packet);
    EXPECT_TRUE(packet->is_checksum_right());
    EXPECT_EQ(packet->source(), from.address);
    EXPECT_EQ(packet->destination(), to.address);
    const auto datagram = udp_view::parse(packet->payload());
    ASSERT_TRUE(datagram);
    EXPECT_EQ(datagram->source_port(), 1234);
    EXPECT_TRUE(std::ranges::equal(datagram->payload(), payload));
    EXPECT_TRUE(datagram->is_checksum_right(from.address, to.address));
    EXPECT_FALSE(datagram->is_checksum_right(from.address, {{1, 2, 3, 4}}));
  }
  std::vector<std::byte> small(20);
  EXPECT_FALSE(build_udp_packet_into(small, from, to, {}));
}

TEST(arp, is_written_and_read_again) {
  const arp asked{arp::request, mac_address({2, 0, 0, 0, 0, 1}), from.address, {}, to.address};
  std::array<std::byte, arp_size> memory;
  ASSERT_TRUE(asked.write(memory));
  EXPECT_EQ(arp::parse(memory), asked);
  EXPECT_FALSE(arp::parse(std::span(memory).first(27)));
}

TEST(ipv4, hostile_packets_are_survived) {
  const auto seed = std::random_device{}();
  SCOPED_TRACE("seed " + std::to_string(seed));
  std::mt19937 chance(seed);
  for (int i = 0; i < 20000; ++i) {
    std::vector<std::byte> packet(chance() % 70);
    for (auto& each : packet) each = static_cast<std::byte>(chance());
    if (!packet.empty() && chance() % 4 != 0)
      packet[0] = static_cast<std::byte>(0x40 | chance() % 16);
    (void)arp::parse(packet);
    const auto view = ipv4_view::parse(packet);
    if (!view) continue;
    EXPECT_LE(view->header_size() + view->payload().size(), packet.size());
    const auto datagram = udp_view::parse(view->payload());
    if (datagram) {
      EXPECT_LE(datagram->payload().size() + udp_header_size, view->payload().size());
      (void)datagram->is_checksum_right(view->source(), view->destination());
    }
  }
}

}  // namespace
}  // namespace strata::wire
