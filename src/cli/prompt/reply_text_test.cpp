#include "cli/prompt/reply_text.hpp"

#include <gtest/gtest.h>

namespace strata::cli {
namespace {

proto::resp_value read(std::string_view bytes) {
  proto::value_reader reader;
  reader.feed(as_bytes(bytes));
  return reader.next().value().value();
}

std::string pretty(std::string_view bytes) { return pretty_reply(read(bytes)); }
std::string raw(std::string_view bytes) { return raw_reply(read(bytes)); }

TEST(reply_text, shows_scalars_with_their_kind) {
  EXPECT_EQ(pretty("+OK\r\n"), "OK");
  EXPECT_EQ(pretty("-ERR no\r\n"), "(error) ERR no");
  EXPECT_EQ(pretty(":-1\r\n"), "(integer) -1");
  EXPECT_EQ(pretty("_\r\n"), "(nil)");
  EXPECT_EQ(pretty("#t\r\n"), "(true)");
  EXPECT_EQ(pretty(",2.5\r\n"), "(double) 2.5");
  EXPECT_EQ(pretty("$7\r\na\"\\\n\x01\xff.\r\n"), R"("a\"\\\n\x01\xff.")");
}

TEST(reply_text, numbers_elements_and_indents_what_is_within) {
  std::string ten = "*10\r\n*2\r\n:1\r\n:2\r\n";
  for (int i = 0; i < 9; ++i) ten += "+x\r\n";
  const auto text = pretty(ten);
  EXPECT_TRUE(text.starts_with(" 1) 1) (integer) 1\n    2) (integer) 2\n 2) x\n")) << text;
  EXPECT_TRUE(text.ends_with("\n10) x")) << text;
  EXPECT_EQ(pretty("%1\r\n$1\r\nk\r\n~2\r\n+a\r\n+b\r\n"), "1# \"k\" => \n   1~ a\n   2~ b");
  EXPECT_EQ(pretty("%1\r\n$1\r\nk\r\n~1\r\n+a\r\n"), "1# \"k\" => 1~ a");
  EXPECT_EQ(pretty("*0\r\n"), "(empty array)");
  EXPECT_EQ(pretty("%0\r\n"), "(empty hash)");
}

TEST(reply_text, keeps_a_terminal_from_harm) {
  EXPECT_EQ(pretty("+a\x1b[2J\r\n"), "a\\x1b[2J");
  EXPECT_EQ(pretty("=14\r\ntxt:a\x1b[2J\r\nb\r\n\r\n"), "a\\x1b[2J\nb");
}

TEST(reply_text, is_raw_for_programs) {
  EXPECT_EQ(raw("$3\r\n\x01\"\n\r\n"), "\x01\"\n");
  EXPECT_EQ(raw("*3\r\n:1\r\n_\r\n*2\r\n+a\r\n+b\r\n"), "1\n\na\nb");
  EXPECT_EQ(raw("%2\r\n+k\r\n+v\r\n+l\r\n+w\r\n"), "k v\nl w");
  EXPECT_EQ(raw("-ERR no\r\n"), "ERR no");
}

}  // namespace
}  // namespace strata::cli
