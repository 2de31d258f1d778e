#include "cli/daemon_client/names.hpp"

#include <gtest/gtest.h>

namespace strata::cli {
namespace {

using words = std::vector<std::string>;

const std::vector<known_runtime> known = {
    {"api-1", "back"}, {"api-2", "back"}, {"web", "front"}, {"x.y", ""}};

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
            "no runtime matches 'nope*'; 'strata ls' shows all runtimes");
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
  EXPECT_EQ(expand(asked, known).names, (words{"api-1", "api-2", "web", "x.y"}));
}

TEST(names, a_group_stands_for_its_members) {
  const words asked = {"@front", "api-2", "@back"};
  const auto result = expand(asked, known);
  EXPECT_EQ(result.names, (words{"web", "api-2", "api-1"}));
  EXPECT_TRUE(result.failures.empty());
  const words glob = {"@*"};  // a runtime without a group is not in a group with an empty name
  EXPECT_EQ(expand(glob, known).names, (words{"api-1", "api-2", "web"}));
}

TEST(names, labels_stand_for_the_runtimes_that_have_all_of_them) {
  const std::vector<known_runtime> labelled = {
      {"api", "", {{"app", "shop"}, {"tier", "1"}}}, {"web", "", {{"app", "shop"}}}, {"x", ""}};
  EXPECT_EQ(expand(words{"app=shop"}, labelled).names, (words{"api", "web"}));
  EXPECT_EQ(expand(words{"x", "app=shop,tier=1"}, labelled).names, (words{"x", "api"}));
  const auto none = expand(words{"app=", "app=shop,nope", "=", "app=sh*"}, labelled);
  EXPECT_TRUE(none.names.empty());
  ASSERT_EQ(none.failures.size(), 4U);
  EXPECT_EQ(none.failures[0].exit, exit_not_found);
  EXPECT_NE(none.failures[0].message.find("label 'app='"), std::string::npos);
}

TEST(names, a_group_without_members_is_not_found) {
  const words asked = {"@nope", "@", "@nope*"};
  const auto result = expand(asked, known);
  EXPECT_TRUE(result.names.empty());
  ASSERT_EQ(result.failures.size(), 3U);
  EXPECT_EQ(result.failures[0].exit, exit_not_found);
  EXPECT_NE(result.failures[0].message.find("group 'nope'"), std::string::npos);
  EXPECT_EQ(result.failures[1].exit, exit_misused);
  EXPECT_EQ(result.failures[2].exit, exit_not_found);
}

TEST(names, an_odd_list_of_runtimes_names_what_has_a_name) {
  const auto odd =
      nlohmann::json::parse(R"([5, null, [], {"name": 5}, {"name": "a", "group": 1}])");
  const auto found = known_runtimes(odd);
  ASSERT_EQ(found.size(), 1U);
  EXPECT_EQ(found[0].name, "a");
  EXPECT_EQ(found[0].group, "");
}

}  // namespace
}  // namespace strata::cli
