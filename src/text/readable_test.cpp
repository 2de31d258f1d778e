#include "text/readable.hpp"

#include <gtest/gtest.h>

#include <limits>

namespace strata::text {
namespace {

TEST(text, sizes) {
  EXPECT_EQ(format_size(0), "0B");
  EXPECT_EQ(format_size(1023), "1023B");
  EXPECT_EQ(format_size(1024), "1KiB");
  EXPECT_EQ(format_size(1536), "1.5KiB");
  EXPECT_EQ(format_size(1048575), "1MiB");
  EXPECT_EQ(format_size(4.0 * 1024 * 1024 * 1024), "4GiB");
  EXPECT_EQ(format_size(9e18), "8185452.3TiB");
}

TEST(text, durations) {
  EXPECT_EQ(format_duration(0), "0s");
  EXPECT_EQ(format_duration(0.0001), "1ms");
  EXPECT_EQ(format_duration(0.25), "250ms");
  EXPECT_EQ(format_duration(1), "1s");
  EXPECT_EQ(format_duration(59.9), "59.9s");
  EXPECT_EQ(format_duration(59.99), "1m00s");
  EXPECT_EQ(format_duration(65), "1m05s");
  EXPECT_EQ(format_duration(3599.9), "1h00m");
  EXPECT_EQ(format_duration(90000), "1d01h");
  EXPECT_EQ(format_duration(-1), "-");
  EXPECT_EQ(format_duration(std::numeric_limits<double>::quiet_NaN()), "-");
  EXPECT_EQ(format_duration(1e300), "-");
}

TEST(text, printable_disarms_terminals_only) {
  EXPECT_EQ(printable("plain, ä€😀\t."), "plain, ä€😀\t.");
  EXPECT_EQ(printable("a\x1b[2Jb\r\n\x7f"), "a\\x1b[2Jb\\r\\n\\x7f");
  EXPECT_EQ(printable("\xc2\x9b"
                      "2J"),
            "\\xc2\\x9b2J");
  EXPECT_EQ(printable("\xff\xc0\x80\xed\xa0\x80"), "\\xff\\xc0\\x80\\xed\\xa0\\x80");
  EXPECT_EQ(printable("\xe2\x82"), "\\xe2\\x82");
  EXPECT_EQ(printable(std::string_view("\0", 1)), "\\x00");
}

TEST(text, width_counts_letters) {
  EXPECT_EQ(width_of("ä€"), 2U);
  EXPECT_EQ(width_of(""), 0U);
}

TEST(text, what_is_too_long_is_cut_between_letters) {
  EXPECT_EQ(shortened("", 1), "");
  EXPECT_EQ(shortened("ä€", 2), "ä€");
  EXPECT_EQ(shortened("ä€x", 2), "ä…");
  EXPECT_EQ(shortened("abc", 1), "…");
  EXPECT_EQ(width_of(shortened(std::string(5000, 'x'), 40)), 40U);
}

TEST(text, lines_from_pieces) {
  line_splitter splitter;
  EXPECT_TRUE(splitter.feed("a").empty());
  EXPECT_EQ(splitter.feed("b\n\nc\nd"), (std::vector<std::string>{"ab", "", "c"}));
  EXPECT_EQ(splitter.unfinished(), 1U);
  EXPECT_EQ(splitter.finish(), std::vector<std::string>{"d"});
  EXPECT_TRUE(splitter.finish().empty());
}

}  // namespace
}  // namespace strata::text
