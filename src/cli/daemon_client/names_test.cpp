#include "cli/daemon_client/names.hpp"

#include <gtest/gtest.h>

namespace strata::cli {
namespace {

using words = std::vector<std::string>;

const words known = {"api-1", "api-2", "web", "x.y"};

TEST(names, expands_globs_among_plain_names) {
  const words asked = {"web", "api-*", "new", "?eb", "[wx]*"};
  const auto result = expand(asked, known);
  EXPECT_EQ(result.names, (words{"web", "api-1", "api-2", "new", "x.y"}));
  EXPECT_TRUE(result.failures.empty());
}

TEST(names, a_glob_without_match_is_not_found) {
  const words asked = {"nope*", "web"};
  const auto result = expand(asked, known);
  EXPECT_EQ(result.names, words{"web"});
  ASSERT_EQ(result.failures.size(), 1U);
  EXPECT_EQ(result.failures[0].exit, exit_not_found);
  EXPECT_EQ(result.failures[0].message,
            "no runtime matches 'nope*'; 'strata ls' shows all there are");
}

TEST(names, an_empty_name_is_refused) {
  const words asked = {""};
  const auto result = expand(asked, known);
  EXPECT_TRUE(result.names.empty());
  ASSERT_EQ(result.failures.size(), 1U);
  EXPECT_EQ(result.failures[0].exit, exit_misused);
}

TEST(names, star_matches_all) {
  const words asked = {"*"};
  EXPECT_EQ(expand(asked, known).names, known);
}

}  // namespace
}  // namespace strata::cli
