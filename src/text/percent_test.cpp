#include "text/percent.hpp"

#include <gtest/gtest.h>

namespace strata::text {
namespace {

TEST(percent, every_byte_but_nul_comes_back) {
  std::string all;
  for (int byte = 1; byte < 256; ++byte) all += static_cast<char>(byte);
  EXPECT_EQ(percent_decode(percent_encode(all), plus_sign::space), all);
  EXPECT_EQ(percent_encode("a b/c%~"), "a%20b%2Fc%25~");
}

TEST(percent, refuses_bad_escapes) {
  for (const auto* text : {"%", "%1", "%g1", "%1g", "a%", "%00", "%%20"}) {
    EXPECT_FALSE(percent_decode(text, plus_sign::literal)) << text;
  }
}

TEST(percent, plus_is_a_space_only_in_queries) {
  EXPECT_EQ(percent_decode("a+b", plus_sign::space), "a b");
  EXPECT_EQ(percent_decode("a+b", plus_sign::literal), "a+b");
}

TEST(percent, reads_queries) {
  using pairs = std::vector<std::pair<std::string, std::string>>;
  EXPECT_EQ(parse_query(""), pairs{});
  EXPECT_EQ(parse_query("&&a=1&b&=c&d==e&"),
            (pairs{{"a", "1"}, {"b", ""}, {"", "c"}, {"d", "=e"}}));
  EXPECT_FALSE(parse_query("a=1&b=%"));
}

}  // namespace
}  // namespace strata::text
