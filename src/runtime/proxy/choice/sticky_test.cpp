#include "runtime/proxy/choice/sticky.hpp"

#include <gtest/gtest.h>

namespace strata::runtime::proxy {
namespace {

TEST(sticky, cookies_are_found_among_others_and_in_pieces) {
  const proto::http_fields fields = {
      {"x", "at=0"}, {"cookie", "a=1;at=2; b=\"3;4\"; cat=5"}, {"cookie", "last="}};
  EXPECT_EQ(find_cookie(fields, "a"), "1");
  EXPECT_EQ(find_cookie(fields, "at"), "2");
  EXPECT_EQ(find_cookie(fields, "cat"), "5");
  EXPECT_EQ(find_cookie(fields, "last"), "");
  EXPECT_EQ(find_cookie(fields, "t"), std::nullopt);
  EXPECT_EQ(find_cookie({{"cookie", ";;; =; a"}}, "a"), std::nullopt);
}

TEST(sticky, what_is_no_mark_is_passed_over) {
  const std::string one = "00000000000000ff";
  EXPECT_EQ(read_marks(one), (std::vector<std::uint64_t>{255}));
  EXPECT_EQ(read_marks("x." + one + "..ff." + one), (std::vector<std::uint64_t>{255, 255}));
  for (const auto* const wrong : {"", ".", "0x000000000000ff", "00000000000000f", "-0000000000000f",
                                  "00000000000000fg", "00000000000000ff0"}) {
    EXPECT_TRUE(read_marks(wrong).empty()) << wrong;
  }
  std::string many;
  for (int at = 0; at < 1000; ++at) many += one + ".";
  EXPECT_EQ(read_marks(many).size(), 8U);
}

TEST(sticky, what_is_written_is_read) {
  const std::vector<std::uint64_t> marks = {1, UINT64_MAX};
  EXPECT_EQ(cookie_text("at", marks, false),
            "at=0000000000000001.ffffffffffffffff; Path=/; HttpOnly; SameSite=Lax");
  EXPECT_TRUE(cookie_text("at", marks, true).ends_with("; SameSite=Lax; Secure"));
  EXPECT_EQ(read_marks("0000000000000001.ffffffffffffffff"), marks);
}

}  // namespace
}  // namespace strata::runtime::proxy
