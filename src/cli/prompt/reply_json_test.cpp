#include "cli/prompt/reply_json.hpp"

#include <gtest/gtest.h>

#include <nlohmann/json.hpp>

namespace strata::cli {
namespace {

std::string shown(std::string_view bytes) {
  proto::value_reader reader;
  reader.feed(as_bytes(bytes));
  return json_reply(reader.next().value().value()).dump();
}

TEST(reply_json, keeps_the_kind_of_scalars) {
  EXPECT_EQ(shown("+OK\r\n"), R"("OK")");
  EXPECT_EQ(shown("$2\r\n17\r\n"), R"("17")");
  EXPECT_EQ(shown(":17\r\n"), "17");
  EXPECT_EQ(shown(",2.5\r\n"), "2.5");
  EXPECT_EQ(shown(",inf\r\n"), R"("inf")");
  EXPECT_EQ(shown("#t\r\n"), "true");
  EXPECT_EQ(shown("_\r\n"), "null");
  EXPECT_EQ(shown("(123456789012345678901\r\n"), R"("123456789012345678901")");
}

TEST(reply_json, keeps_any_bytes) {
  EXPECT_EQ(shown(std::string_view("$3\r\na\0b\r\n", 9)), R"("a\u0000b")");
  EXPECT_EQ(shown("$2\r\n\xff\xfe\r\n"), R"({"base64":"//4="})");
}

TEST(reply_json, nests) {
  EXPECT_EQ(shown("*3\r\n:1\r\n*0\r\n-ERR no\r\n"), R"([1,[],{"error":"ERR no"}])");
  EXPECT_EQ(shown("%1\r\n$1\r\nk\r\n~1\r\n+a\r\n"), R"({"k":["a"]})");
  EXPECT_EQ(shown("%0\r\n"), "{}");
}

TEST(reply_json, a_map_whose_keys_are_no_names_is_pairs) {
  EXPECT_EQ(shown("%1\r\n:1\r\n+a\r\n"), R"([[1,"a"]])");
  EXPECT_EQ(shown("%2\r\n+a\r\n:1\r\n+a\r\n:2\r\n"), R"([["a",1],["a",2]])");
}

}  // namespace
}  // namespace strata::cli
