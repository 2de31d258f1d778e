#include "proto/deflate_gzip.hpp"

#include <gtest/gtest.h>

#include <string>

#include "proto/deflate.hpp"

namespace strata::proto {
namespace {

// Unpacks a header of ten bytes, raw DEFLATE, and a trailer of eight (RFC 1952 section 2.3).
std::string unpacked(const std::string& packed) {
  EXPECT_GE(packed.size(), 18U);
  EXPECT_EQ(packed.substr(0, 3), "\x1f\x8b\x08");
  inflater reader;
  std::string plain;
  const auto body = as_bytes(packed).subspan(10, packed.size() - 18);
  EXPECT_TRUE(reader.feed(body, plain, SIZE_MAX).has_value());
  return plain;
}

TEST(deflate_gzip, what_goes_in_comes_out) {
  std::string text;
  for (int i = 0; i < 50'000; ++i) text += std::to_string(i);
  EXPECT_EQ(unpacked(gzip(as_bytes(text))), text);
  EXPECT_EQ(unpacked(gzip({})), "");
}

TEST(deflate_gzip, however_it_is_cut) {
  const std::string text(100'000, 'x');
  gzip_writer writer;
  std::string packed;
  for (std::size_t at = 0; at < text.size(); at += 777) {
    writer.feed(as_bytes(std::string_view(text).substr(at, 777)), packed);
  }
  writer.finish(packed);
  EXPECT_EQ(unpacked(packed), text);
}

}  // namespace
}  // namespace strata::proto
