#include "net/tls/digest.hpp"

#include <fmt/format.h>
#include <gtest/gtest.h>

#include <string>

namespace strata::net {
namespace {

std::string sha1_text(std::string_view of) {
  std::string text;
  for (const auto each : sha1(as_bytes(of))) text += fmt::format("{:02x}", static_cast<int>(each));
  return text;
}

TEST(digest, sha1_is_as_its_standard_says) {
  EXPECT_EQ(sha1_text("abc"), "a9993e364706816aba3e25717850c26c9cd0d89d");
  EXPECT_EQ(sha1_text(""), "da39a3ee5e6b4b0d3255bfef95601890afd80709");
  // RFC 6455, section 1.3.
  EXPECT_EQ(sha1_text("dGhlIHNhbXBsZSBub25jZQ==258EAFA5-E914-47DA-95CA-C5AB0DC85B11"),
            "b37a4f2cc0624f1690f64606cf385945b2bec4ea");
}

std::string hex(const std::optional<std::string>& bytes) {
  std::string text;
  for (const unsigned char each : bytes.value_or("")) text += fmt::format("{:02x}", each);
  return text;
}

TEST(digest, those_by_name_are_as_their_standards_say) {
  EXPECT_EQ(hex(digest("sha256", as_bytes("abc"))),
            "ba7816bf8f01cfea414140de5dae2223b00361a396177a9cb410ff61f20015ad");
  EXPECT_FALSE(digest("sha257", as_bytes("abc")));
  // RFC 4231, test case 2.
  EXPECT_EQ(hex(hmac("sha256", as_bytes("Jefe"), as_bytes("what do ya want for nothing?"))),
            "5bdcc146bf60754e6a042426089575c75a003f089d2739839dec58b964ec3843");
  EXPECT_FALSE(hmac("none", as_bytes("k"), as_bytes("abc")));
  EXPECT_NE(random_bytes(16), random_bytes(16));
}

}  // namespace
}  // namespace strata::net
