#include "proto/websocket/websocket_frame.hpp"

#include <gtest/gtest.h>

#include <string>
#include <vector>

#include "proto/websocket/testing/websocket_bytes.hpp"

namespace strata::proto {
namespace {

using std::literals::operator""sv;

websocket_close code_of(const std::string& number) {
  return static_cast<websocket_close>(std::stoi(number));
}

std::string head_text(const websocket_frame& frame, std::uint64_t size) {
  return std::string(as_text(websocket_head_for(frame, size).span()));
}

// RFC 6455 sections 5.2 and 5.7: the shortest length, in network byte order.
TEST(websocket_frame, a_head_has_the_shortest_length) {
  const websocket_frame text{.opcode = websocket_opcode::text};
  EXPECT_EQ(head_text(text, 0), "\x81\x00"sv);
  EXPECT_EQ(head_text(text, 125), "\x81\x7D"sv);
  EXPECT_EQ(head_text(text, 126), "\x81\x7E\x00\x7E"sv);
  EXPECT_EQ(head_text(text, 65535), "\x81\x7E\xFF\xFF"sv);
  EXPECT_EQ(head_text(text, 65536), "\x81\x7F\0\0\0\0\0\1\0\0"sv);
  EXPECT_EQ(head_text(text, INT64_MAX), "\x81\x7F\x7F\xFF\xFF\xFF\xFF\xFF\xFF\xFF"sv);
}

TEST(websocket_frame, a_head_has_its_bits_and_its_mask) {
  const websocket_mask key = {std::byte{1}, std::byte{2}, std::byte{3}, std::byte{4}};
  EXPECT_EQ(head_text({.opcode = websocket_opcode::continuation, .is_final = false}, 1),
            "\x00\x01"sv);
  EXPECT_EQ(head_text({.opcode = websocket_opcode::binary, .is_compressed = true}, 1),
            "\xC2\x01"sv);
  EXPECT_EQ(head_text({.opcode = websocket_opcode::ping, .mask = key}, 0), "\x89\x80\1\2\3\4"sv);
  EXPECT_EQ(head_text({.mask = key}, 65536), "\x82\xFF\0\0\0\0\0\1\0\0\1\2\3\4"sv);
}

// Section 5.3.
TEST(websocket_frame, a_mask_is_the_same_at_every_place_and_size) {
  const websocket_mask key = {std::byte{0xA1}, std::byte{0x52}, std::byte{0x03}, std::byte{0xF4}};
  std::vector<std::byte> bytes(400);
  unsigned next = 0;
  for (auto& each : bytes) each = static_cast<std::byte>(next += 37);
  for (std::size_t from = 0; from < 9; ++from) {
    for (std::size_t size = 0; size + from <= bytes.size(); ++size) {
      const auto offset = (std::uint64_t{1} << 40U) + size % 5;
      auto masked = bytes;
      apply_mask(mutable_byte_span(masked).subspan(from, size), key, offset);
      for (std::size_t at = 0; at < bytes.size(); ++at) {
        const bool inside = at >= from && at < from + size;
        const auto by = inside ? key[(offset + at - from) % 4] : std::byte{0};
        ASSERT_EQ(masked[at], bytes[at] ^ by) << from << ' ' << size << ' ' << at;
      }
      apply_mask(mutable_byte_span(masked).subspan(from, size), key, offset);
      ASSERT_EQ(masked, bytes);
    }
  }
}

// Section 5.5.1: a code in network byte order and a reason, at most 125 bytes of UTF-8 together.
TEST(websocket_frame, a_close_payload_fits_a_control_frame) {
  EXPECT_EQ(websocket_close_payload(websocket_close::no_status, "unsent"), "");
  EXPECT_EQ(websocket_close_payload(websocket_close::normal), "\x03\xE8");
  EXPECT_EQ(websocket_close_payload(code_of("4999"), "why"), "\x13\x87why");
  const auto longest = websocket_close_payload(websocket_close::normal, std::string(200, 'a'));
  EXPECT_EQ(longest.size(), 125U);
  std::string euros;
  for (int i = 0; i < 50; ++i) euros += "\xE2\x82\xAC";
  EXPECT_EQ(websocket_close_payload(websocket_close::normal, 'a' + euros).size(), 2U + 1 + 120);
}

// Section 7.4.1: 1005, 1006 and 1015 MUST NOT be sent; 7.4.2: reserved codes.
TEST(websocket_frame, close_codes_that_may_be_sent) {
  for (const unsigned code : {1000U, 1003U, 1007U, 1014U, 3000U, 3999U, 4000U, 4999U}) {
    EXPECT_TRUE(is_valid_close_code(static_cast<std::uint16_t>(code))) << code;
  }
  for (const unsigned code :
       {0U, 999U, 1004U, 1005U, 1006U, 1015U, 1016U, 2000U, 2999U, 5000U, 65535U}) {
    EXPECT_FALSE(is_valid_close_code(static_cast<std::uint16_t>(code))) << code;
  }
  EXPECT_EQ(name_of(websocket_close::protocol_error), "protocol error");
  EXPECT_EQ(name_of(code_of("4000")), "unknown");
}

TEST(websocket_frame, what_is_written_is_read) {
  const websocket_mask key = {std::byte{9}, std::byte{8}, std::byte{7}, std::byte{6}};
  for (const auto sender : testing::both_sides) {
    for (const std::size_t size : {0, 5, 125, 126, 300, 65535, 65536}) {
      std::string payload(size, 'w');
      websocket_frame of{.opcode = websocket_opcode::text};
      if (sender == websocket_role::client) of.mask = key;
      auto bytes = head_text(of, size);
      if (of.mask) apply_mask(std::as_writable_bytes(std::span(payload)), key);
      bytes += payload;
      EXPECT_EQ(testing::read_pieces(peer_of(sender), {bytes}).events,
                (std::vector<testing::seen>{{testing::kind::text, std::string(size, 'w')}}));
    }
  }
}

}  // namespace
}  // namespace strata::proto
