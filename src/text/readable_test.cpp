#include "text/readable.hpp"

#include <gtest/gtest.h>

#include <limits>
#include <nlohmann/json.hpp>

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

TEST(text, printable_shows_what_turns_the_direction_of_writing) {
  EXPECT_EQ(printable("exe.\u202Etxt"), "exe.\\u{202e}txt");
  EXPECT_EQ(printable("\u061C\u200E\u200F"), "\\u{061c}\\u{200e}\\u{200f}");
  EXPECT_EQ(printable("\u202A\u202B\u202C\u202D"), "\\u{202a}\\u{202b}\\u{202c}\\u{202d}");
  EXPECT_EQ(printable("\u2066\u2067\u2068\u2069"), "\\u{2066}\\u{2067}\\u{2068}\\u{2069}");
  // Their neighbours, and scripts written from right to left, are ordinary characters.
  for (const auto* letters : {"\u061B\u061D", "\u200D\u2010", "\u2029\u202F", "\u2065\u206A",
                              "\u05E9\u05DC\u05D5\u05DD", "\U0001F600\U0002066A"}) {
    EXPECT_EQ(printable(letters), letters);
  }
}

TEST(text, json_keeps_its_values_and_harms_no_terminal) {
  EXPECT_EQ(escaped_for_json("{\n  \"a\": \"ä😀\"\n}"), "{\n  \"a\": \"ä😀\"\n}");
  EXPECT_EQ(escaped_for_json("\"\x7f\u009B\u202E\""), R"("\u007f\u009b\u202e")");
  const nlohmann::json value = {{"\u200F", "\u202Ea\x7f\u0085\x1b"}};
  const auto text = escaped_for_json(value.dump());
  EXPECT_EQ(nlohmann::json::parse(text), value);
  EXPECT_EQ(text.find_first_not_of(" !\"#$%&'()*+,-./0123456789:;<=>?@[\\]^_`{|}~abcdefghijklmno"
                                   "pqrstuvwxyz"),
            std::string::npos);
  EXPECT_EQ(escaped_for_json("\"\xff\""), R"("\ufffd")");
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
