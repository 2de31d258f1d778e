#include "cli/runtimes/moment.hpp"

#include <gtest/gtest.h>

#include <string>

namespace strata::cli {
namespace {

using namespace std::chrono;
using namespace std::chrono_literals;

const moment noon = sys_days(2026y / 3 / 4) + 12h;

TEST(moment, reads_what_rfc_3339_allows) {
  EXPECT_EQ(parse_rfc3339("2026-03-04T12:00:00Z"), noon);
  EXPECT_EQ(parse_rfc3339("2026-03-04t12:00:00.250z"), noon + 250ms);
  EXPECT_EQ(parse_rfc3339("2026-03-04 12:00:00.2Z"), noon + 200ms);
  EXPECT_EQ(parse_rfc3339("2026-03-04T12:00:00.123456789012345678901Z"), noon + 123ms);
  EXPECT_EQ(parse_rfc3339("2026-03-04T13:30:00+01:30"), noon);
  EXPECT_EQ(parse_rfc3339("2026-03-03T23:00:00-13:00"), noon);
  EXPECT_EQ(parse_rfc3339("2028-02-29T00:00:00Z"), moment(sys_days(2028y / 2 / 29)));
  EXPECT_EQ(parse_rfc3339("2026-03-04T11:59:60Z"), noon);
  EXPECT_TRUE(parse_rfc3339("0000-01-01T00:00:00+23:59"));
  EXPECT_TRUE(parse_rfc3339("9999-12-31T23:59:59-23:59"));
}

TEST(moment, refuses_what_is_no_time) {
  for (const auto* wrong :
       {"", "now", "2026-03-04", "2026-03-04T12:00:00", "2026-03-04T12:00Z", "2026-02-29T00:00:00Z",
        "2026-13-01T00:00:00Z", "2026-00-01T00:00:00Z", "2026-01-32T00:00:00Z",
        "2026-03-04T24:00:00Z", "2026-03-04T12:60:00Z", "2026-03-04T12:00:61Z",
        "2026-03-04T12:00:00.Z", "2026-03-04T12:00:00+1:00", "2026-03-04T12:00:00+24:00",
        "2026-03-04T12:00:00Zx", "+026-03-04T12:00:00Z", "2026-03-04T12:00:00Z\n"}) {
    EXPECT_FALSE(parse_rfc3339(wrong)) << wrong;
  }
  EXPECT_FALSE(parse_rfc3339(std::string(1U << 20U, '9')));
}

TEST(moment, since_is_a_time_or_how_long_ago) {
  EXPECT_EQ(*parse_since("2026-03-04T12:00:00Z", noon + 1h), noon);
  EXPECT_EQ(*parse_since("10m", noon), noon - 10min);
  EXPECT_EQ(*parse_since("1.5s", noon), noon - 1500ms);
  EXPECT_EQ(*parse_since("0", noon), noon);
  for (const auto* wrong : {"", "yesterday", "-5m", "1e300", "nan", "inf", "10x"}) {
    const auto refused = parse_since(wrong, noon);
    ASSERT_FALSE(refused) << wrong;
    EXPECT_EQ(refused.error().exit, exit_misused);
    EXPECT_NE(refused.error().message.find("10m"), std::string::npos);
  }
}

}  // namespace
}  // namespace strata::cli
