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

}  // namespace
}  // namespace strata::net
