#include "cli/pipe/terminal_text.hpp"

#include <gtest/gtest.h>

namespace strata::cli {
namespace {

/// The output for `text` when it arrives byte by byte.
std::string shown_in_pieces(std::string_view text) {
  terminal_text terminal;
  std::string shown;
  for (const char each : text) shown += terminal.feed({&each, 1});
  shown += terminal.finish();
  return shown;
}

std::string shown_at_once(std::string_view text) {
  terminal_text terminal;
  std::string shown(terminal.feed(text));
  shown += terminal.finish();
  return shown;
}

TEST(terminal_text, lines_are_shown_as_they_are) {
  for (const std::string_view text : {"", "one\ntwo\n", "\n\n", "tab\tä€😀", "a\nä"}) {
    EXPECT_EQ(shown_at_once(text), text);
    EXPECT_EQ(shown_in_pieces(text), text);
  }
}

TEST(terminal_text, a_line_end_of_two_letters_is_one_of_one) {
  EXPECT_EQ(shown_at_once("one\r\ntwo\r\n"), "one\ntwo\n");
  EXPECT_EQ(shown_in_pieces("one\r\ntwo\r\n"), "one\ntwo\n");
}

TEST(terminal_text, the_terminal_gets_nothing_to_obey) {
  for (const std::string_view text : {"\x1b[2J", "\r", "\x7f", "\xc2\x9b", "\x9b", "\xe2\x80\xae",
                                      "\xff\xfe", "\xc3", "\xf0\x9f\x98", "one\rtwo"}) {
    const auto shown = shown_in_pieces(text);
    EXPECT_TRUE(shown.contains('\\')) << shown;
    EXPECT_EQ(shown, shown_at_once(text));
    for (const char letter : shown) EXPECT_TRUE(letter >= ' ' && letter <= '~') << shown;
  }
}

TEST(terminal_text, what_is_whole_is_not_kept) {
  terminal_text terminal;
  EXPECT_EQ(terminal.feed("user: "), "user: ");
  EXPECT_EQ(terminal.feed("a\xc3"), "a");
  EXPECT_EQ(terminal.feed("\xa4"), "ä");
  EXPECT_EQ(terminal.feed("\xe2\x82"), "");
  EXPECT_EQ(terminal.feed("x"), "\\xe2\\x82x");
  EXPECT_EQ(terminal.finish(), "");
}

}  // namespace
}  // namespace strata::cli
