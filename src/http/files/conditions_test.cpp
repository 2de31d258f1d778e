#include "http/files/conditions.hpp"

#include <gtest/gtest.h>

namespace strata::http {
namespace {

using enum judgement;

// Sun, 09 Sep 2001 01:46:40 GMT
const validators at_hand{.etag = "\"a\"", .modified_s = 1'000'000'000};
constexpr const char* same_second = "Sun, 09 Sep 2001 01:46:40 GMT";
constexpr const char* second_before = "Sun, 09 Sep 2001 01:46:39 GMT";

judgement of(const proto::http_fields& headers) { return judge(headers, at_hand); }

TEST(conditions, without_any_it_goes_on) { EXPECT_EQ(of({{"host", "x"}}), go_on); }

TEST(conditions, if_match_compares_strongly) {
  EXPECT_EQ(of({{"if-match", "\"a\""}}), go_on);
  EXPECT_EQ(of({{"if-match", "\"b\" , \"a\""}}), go_on);
  EXPECT_EQ(of({{"if-match", "\"b\""}, {"if-match", "\"a\""}}), go_on);
  EXPECT_EQ(of({{"if-match", "*"}}), go_on);
  EXPECT_EQ(of({{"if-match", "W/\"a\""}}), failed);
  EXPECT_EQ(of({{"if-match", "\"b\""}}), failed);
  EXPECT_EQ(of({{"if-match", ""}}), failed);
  EXPECT_EQ(of({{"if-match", "a"}}), failed);
}

TEST(conditions, if_none_match_compares_weakly) {
  EXPECT_EQ(of({{"if-none-match", "W/\"a\""}}), not_modified);
  EXPECT_EQ(of({{"if-none-match", "\"b\",,\"a\""}}), not_modified);
  EXPECT_EQ(of({{"if-none-match", "*"}}), not_modified);
  EXPECT_EQ(of({{"if-none-match", "\"b,\"a\""}}), go_on);
  EXPECT_EQ(of({{"if-none-match", "\"a"}}), go_on);
  EXPECT_EQ(of({{"if-none-match", "W/W/\"a\""}}), go_on);
}

TEST(conditions, a_comma_may_be_part_of_a_tag) {
  const validators odd{.etag = "\"a,b\"", .modified_s = 0};
  EXPECT_EQ(judge({{"if-none-match", "\"x\", \"a,b\""}}, odd), not_modified);
  EXPECT_EQ(judge({{"if-none-match", "\"a\", \"b\""}}, odd), go_on);
}

TEST(conditions, dates_count_where_no_tag_does) {
  EXPECT_EQ(of({{"if-modified-since", same_second}}), not_modified);
  EXPECT_EQ(of({{"if-modified-since", second_before}}), go_on);
  EXPECT_EQ(of({{"if-modified-since", "yesterday"}}), go_on);
  EXPECT_EQ(of({{"if-unmodified-since", second_before}}), failed);
  EXPECT_EQ(of({{"if-unmodified-since", same_second}}), go_on);
  EXPECT_EQ(of({{"if-modified-since", same_second}, {"if-none-match", "\"b\""}}), go_on);
  EXPECT_EQ(of({{"if-unmodified-since", second_before}, {"if-match", "\"a\""}}), go_on);
}

TEST(conditions, if_match_goes_first) {
  EXPECT_EQ(of({{"if-none-match", "\"a\""}, {"if-match", "\"b\""}}), failed);
  EXPECT_EQ(of({{"if-none-match", "\"a\""}, {"if-match", "\"a\""}}), not_modified);
}

TEST(conditions, if_range_takes_a_strong_tag_or_a_date_that_is_over) {
  const auto allowed = [](const char* condition, std::int64_t now_s = 2'000'000'000) {
    return allows_range({{"if-range", condition}}, at_hand, now_s);
  };
  EXPECT_TRUE(allows_range({}, at_hand, 0));
  EXPECT_TRUE(allowed("\"a\""));
  EXPECT_FALSE(allowed("W/\"a\""));
  EXPECT_FALSE(allowed("\"b\""));
  EXPECT_FALSE(allowed("\"a\", \"b\""));
  EXPECT_TRUE(allowed(same_second));
  EXPECT_FALSE(allowed(same_second, 1'000'000'000));
  EXPECT_FALSE(allowed(second_before));
  EXPECT_FALSE(allowed(""));
}

}  // namespace
}  // namespace strata::http
