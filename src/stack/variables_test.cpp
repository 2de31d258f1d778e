#include "stack/variables.hpp"

#include <gtest/gtest.h>

#include <map>

namespace strata::stack {
namespace {

result<std::string> expanded(std::string_view text) {
  static const std::map<std::string, std::string> values = {
      {"port", "8080"}, {"empty", ""}, {"a_1", "$port"}};
  return expand_variables(text, [](const std::string& name) {
    const auto found = values.find(name);
    return found == values.end() ? std::nullopt : std::optional(found->second);
  });
}

TEST(variables, are_replaced_by_their_values) {
  EXPECT_EQ(*expanded("no variable"), "no variable");
  EXPECT_EQ(*expanded("${port}"), "8080");
  EXPECT_EQ(*expanded("a${port}b${port}c"), "a8080b8080c");
  EXPECT_EQ(*expanded("<${empty}>"), "<>");
  EXPECT_EQ(*expanded("$$ $${port}"), "$ ${port}");
  EXPECT_EQ(*expanded("${a_1}"), "$port");  // a value is not expanded again
}

TEST(variables, have_a_value_of_their_own_where_none_is_set) {
  EXPECT_EQ(*expanded("${host:-127.0.0.1}:${port:-1}"), "127.0.0.1:8080");
  EXPECT_EQ(*expanded("${host:-}"), "");
  EXPECT_EQ(*expanded("${host:-a:-b}"), "a:-b");
  EXPECT_EQ(expanded("${host}").error().code, errc::not_found);
  EXPECT_NE(expanded("${host}").error().reason.find("--set host=VALUE"), std::string::npos);
}

TEST(variables, any_other_dollar_is_refused) {
  for (const auto* const wrong :
       {"$", "$port", "a$", "${port", "${}", "${1a}", "${a b}", "${:-x}", "${ä}", "$(port)"}) {
    const auto refused = expanded(wrong);
    ASSERT_FALSE(refused) << wrong;
    EXPECT_EQ(refused.error().code, errc::invalid_argument) << wrong;
  }
}

TEST(variables, an_error_names_the_place_and_not_the_text) {
  for (const auto* const wrong : {"secret$word", "secret${word", "secret${wo rd}", "secret$"}) {
    const auto shown = describe(expanded(wrong).error());
    EXPECT_TRUE(shown.contains("'$' at character 7")) << shown;
    EXPECT_FALSE(shown.contains("secret") || shown.contains("rd")) << shown;
  }
  EXPECT_FALSE(describe(expanded("secret${host}").error()).contains("secret"));
}

}  // namespace
}  // namespace strata::stack
