#include "strata/wire/hybrid_handshake.hpp"

#include <gtest/gtest.h>

#include <algorithm>
#include <vector>

namespace strata::wire {
namespace {

const hybrid_greeting sound{.role = hybrid_greeting::end::server,
                            .session = 77,
                            .mac = mac_address({2, 0, 0, 0, 0, 1}),
                            .ethertype = 0x88B5,
                            .vlan_id = 10,
                            .mtu = 1500};

TEST(hybrid_greeting, is_read_as_it_was_written) {
  EXPECT_EQ(hybrid_greeting::parse(sound.build()), sound);
  auto untagged = sound;
  untagged.vlan_id = std::nullopt;
  untagged.role = hybrid_greeting::end::client;
  untagged.session = 0;
  EXPECT_EQ(hybrid_greeting::parse(untagged.build()), untagged);
}

TEST(hybrid_greeting, is_refused_with_what_cannot_be) {
  const auto refusal = [](auto spoil) {
    auto bytes = sound.build();
    spoil(bytes);
    const auto read = hybrid_greeting::parse(bytes);
    return read ? std::string("taken") : std::string(name_of(read.error().code));
  };
  EXPECT_EQ(refusal([](auto&) {}), "taken");
  EXPECT_EQ(refusal([](auto& bytes) { bytes[0] = std::byte{'X'}; }), "malformed");
  EXPECT_EQ(refusal([](auto& bytes) { bytes[9] = std::byte{2}; }), "not_supported");
  EXPECT_EQ(refusal([](auto& bytes) { bytes[11] = std::byte{3}; }), "malformed");
  EXPECT_EQ(refusal([](auto& bytes) { bytes[11] = std::byte{1}; }), "malformed");
  EXPECT_EQ(refusal([](auto& bytes) { bytes[19] = std::byte{0}; }), "malformed");
  EXPECT_EQ(refusal([](auto& bytes) { bytes[20] = std::byte{1}; }), "malformed");
  EXPECT_EQ(refusal([](auto& bytes) { bytes[26] = std::byte{0}; }), "malformed");
  EXPECT_EQ(refusal([](auto& bytes) { bytes[28] = std::byte{0x20}; }), "malformed");
  EXPECT_EQ(refusal([](auto& bytes) { bytes[30] = bytes[31] = std::byte{0}; }), "malformed");
}

TEST(hybrid_data, knows_its_size_and_refuses_to_be_cut) {
  std::vector<std::byte> payload(64);
  const std::vector<std::byte> message(20, std::byte{5});
  const auto size = hybrid_data{.session = 9, .message = message}.write(payload);
  const auto read = hybrid_data::parse(payload);
  ASSERT_TRUE(read);
  EXPECT_EQ(read->session, 9U);
  EXPECT_TRUE(std::ranges::equal(read->message, message));
  for (std::size_t cut = 0; cut < size; ++cut) {
    EXPECT_FALSE(hybrid_data::parse(byte_span(payload).first(cut)));
  }
}

}  // namespace
}  // namespace strata::wire
