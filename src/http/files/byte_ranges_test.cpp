#include "http/files/byte_ranges.hpp"

#include <gtest/gtest.h>

#include <string>

namespace strata::http {
namespace {

using kind = chosen_ranges::kind;
using ranges = std::vector<byte_range>;

TEST(byte_ranges, the_three_forms) {
  EXPECT_EQ(choose_ranges("bytes=0-4", 10).ranges, (ranges{{0, 4}}));
  EXPECT_EQ(choose_ranges("bytes=7-", 10).ranges, (ranges{{7, 9}}));
  EXPECT_EQ(choose_ranges("bytes=-3", 10).ranges, (ranges{{7, 9}}));
  EXPECT_EQ(choose_ranges("BYTES= 0-0 , 5-99", 10).ranges, (ranges{{0, 0}, {5, 9}}));
}

TEST(byte_ranges, those_that_touch_are_joined) {
  EXPECT_EQ(choose_ranges("bytes=5-6,0-2,3-4", 10).ranges, (ranges{{0, 6}}));
  EXPECT_EQ(choose_ranges("bytes=0-9,2-3", 10).ranges, (ranges{{0, 9}}));
  EXPECT_EQ(choose_ranges("bytes=0-1,3-4", 10).ranges, (ranges{{0, 1}, {3, 4}}));
}

TEST(byte_ranges, one_outside_counts_only_when_all_are) {
  EXPECT_EQ(choose_ranges("bytes=10-", 10).what, kind::unsatisfiable);
  EXPECT_EQ(choose_ranges("bytes=-0,10-11", 10).what, kind::unsatisfiable);
  EXPECT_EQ(choose_ranges("bytes=-0,10-11,9-", 10).ranges, (ranges{{9, 9}}));
  EXPECT_EQ(choose_ranges("bytes=0-", 0).what, kind::unsatisfiable);
  EXPECT_EQ(choose_ranges("bytes=-1", 0).what, kind::unsatisfiable);
}

TEST(byte_ranges, nonsense_is_as_if_it_were_not_there) {
  for (const auto* const text :
       {"", "bytes", "bytes=", "bytes=,", "bytes=-", "bytes=5-4", "bytes=1", "bytes=a-b",
        "bytes=1-2-3", "bytes=-1-", "bytes=0x1-2", "items=0-1", "bytes=0-1;2-3", "bytes=0-1,x"}) {
    EXPECT_EQ(choose_ranges(text, 10).what, kind::whole) << text;
  }
}

TEST(byte_ranges, numbers_have_no_end) {
  const std::string huge(400, '9');
  EXPECT_EQ(choose_ranges("bytes=3-" + huge, 10).ranges, (ranges{{3, 9}}));
  EXPECT_EQ(choose_ranges("bytes=-" + huge, 10).ranges, (ranges{{0, 9}}));
  EXPECT_EQ(choose_ranges("bytes=" + huge + "-", 10).what, kind::unsatisfiable);
  EXPECT_EQ(choose_ranges("bytes=0-18446744073709551615", UINT64_MAX).ranges,
            (ranges{{0, UINT64_MAX - 1}}));
}

TEST(byte_ranges, more_than_enough_are_the_whole) {
  const auto every_other = [](int count) {
    std::string text = "bytes=0-0";
    for (int i = 1; i < count; ++i) {
      text += ',' + std::to_string(i * 2) + '-' + std::to_string(i * 2);
    }
    return text;
  };
  EXPECT_EQ(choose_ranges(every_other(16), 1'000'000).ranges.size(), 16U);
  EXPECT_EQ(choose_ranges(every_other(17), 1'000'000).what, kind::whole);
  const auto many = choose_ranges(every_other(100'000), 1'000'000);
  EXPECT_EQ(many.what, kind::whole);
  EXPECT_TRUE(many.ranges.empty());
}

}  // namespace
}  // namespace strata::http
