#include "text/json_text.hpp"

#include <gtest/gtest.h>

#include <nlohmann/json.hpp>

namespace strata::text {
namespace {

std::string nested(int depth) {
  const auto size = static_cast<std::size_t>(depth);
  return std::string(size, '[') + std::string(size, ']');
}

TEST(json_text, is_read_as_deep_as_allowed) {
  EXPECT_EQ(parse_json(R"({"a": [1, "b", null]})", "read it")->dump(), R"({"a":[1,"b",null]})");
  EXPECT_EQ(parse_json(nested(deepest_json), "read it")->dump(), nested(deepest_json));
}

TEST(json_text, is_refused_when_it_is_deeper_whatever_follows) {
  for (const auto& text : {nested(deepest_json + 1), nested(1'000'000), std::string(100, '['),
                           std::string(100, '[') + "garbage"}) {
    const auto read = parse_json(text, "read it");
    ASSERT_FALSE(read);
    EXPECT_EQ(describe(read.error()), "cannot read it: its JSON is nested deeper than 64 levels");
  }
}

TEST(json_text, depth_is_not_how_many_there_are) {
  std::string text = "[";
  for (int i = 0; i < 1000; ++i) text += "[{}],";
  text += "0]";
  EXPECT_TRUE(parse_json(text, "read it"));
}

TEST(json_text, tells_where_the_syntax_is_broken) {
  const std::pair<std::string, std::size_t> wrong[] = {
      {"", 0}, {"x", 0}, {R"({"a": 1,})", 8}, {R"({"a": 1} x)", 9}, {"[1e999]", 5}, {"[1", 2}};
  for (const auto& [text, at] : wrong) {
    const auto read = parse_json(text, "read it");
    ASSERT_FALSE(read) << text;
    EXPECT_EQ(read.error().code, errc::malformed);
    EXPECT_EQ(read.error().offset, at) << text;
  }
}

}  // namespace
}  // namespace strata::text
