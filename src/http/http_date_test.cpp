// HTTP dates: the RFC's examples, and texts that are not dates.
#include "http/http_date.hpp"

#include <gtest/gtest.h>

namespace strata::http {
namespace {

TEST(http_date, the_three_forms_of_the_rfc_are_one_moment) {
  EXPECT_EQ(parse_date("Sun, 06 Nov 1994 08:49:37 GMT"), 784111777);
  EXPECT_EQ(parse_date("Sunday, 06-Nov-94 08:49:37 GMT"), 784111777);
  EXPECT_EQ(parse_date("Sun Nov  6 08:49:37 1994"), 784111777);
}

TEST(http_date, what_is_written_is_read) {
  for (const std::int64_t at : {0LL, 951782400LL, 784111777LL, 4102444799LL}) {
    EXPECT_EQ(parse_date(date_text(at)), at) << date_text(at);
  }
  EXPECT_EQ(date_text(784111777), "Sun, 06 Nov 1994 08:49:37 GMT");
  EXPECT_TRUE(parse_date(date_now()));
}

TEST(http_date, what_is_no_date_is_none) {
  for (const auto* text :
       {"", "Sun", "Sun, ", "Sun, 06 Nov 1994", "Sun, 06 Nov 1994 08:49:37",
        "Sun, 06 Nov 1994 08:49:37 PST", "Sun, 06 Nov 1994 24:00:00 GMT",
        "Sun, 31 Feb 1994 08:49:37 GMT", "Sun, 6 Nov 1994 08:49:37 GMT",
        "Sun, 06 Nov 1994 08:49:37 GMT ", "Sunday, 06-Nov-1994 08:49:37 GMT",
        "Sun Nov 6 08:49:37 1994", "06 Nov 1994 08:49:37 GMT", "Sun, -6 Nov 1994 08:49:37 GMT"}) {
    EXPECT_FALSE(parse_date(text)) << text;
  }
}

}  // namespace
}  // namespace strata::http
