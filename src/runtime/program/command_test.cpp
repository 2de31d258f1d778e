#include "runtime/program/command.hpp"

#include <gtest/gtest.h>

namespace strata::runtime::program {
namespace {

using words = std::vector<std::string>;

TEST(command, is_split_as_by_a_shell) {
  EXPECT_EQ(split_command("./server --port 80").value_or(words{}),
            (words{"./server", "--port", "80"}));
  EXPECT_EQ(split_command("  a\t'b c' \"d 'e\" f\\ g ''\n").value_or(words{}),
            (words{"a", "b c", "d 'e", "f g", ""}));
  EXPECT_EQ(split_command(R"(a'b'"c" '\' "\"")").value_or(words{}), (words{"abc", "\\", "\""}));
  EXPECT_EQ(split_command("a; b | c $D *").value_or(words{}),
            (words{"a;", "b", "|", "c", "$D", "*"}));
}

TEST(command, one_that_cannot_be_split_is_refused) {
  for (const auto* const each : {"", " ", "'a", "a \"b", "a\\"}) {
    const auto split = split_command(each);
    ASSERT_FALSE(split) << each;
    EXPECT_EQ(split.error().code, errc::invalid_argument);
  }
}

TEST(command, its_places_are_filled_in) {
  const place_values values{.name = "api", .port = "8001", .instance = 2};
  EXPECT_EQ(with_places("{name}-{instance}:{port}", values).value_or(""), "api-2:8001");
  EXPECT_EQ(with_places("{{a} }", values).value_or(""), "{a} }");
  for (const auto* const each : {"{height}", "{", "{port", "{}"}) {
    EXPECT_FALSE(with_places(each, values)) << each;
  }
  EXPECT_FALSE(with_places("{port}", {.name = "api", .port = "", .instance = 1}));
}

}  // namespace
}  // namespace strata::runtime::program
