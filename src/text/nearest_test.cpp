#include "text/nearest.hpp"

#include <gtest/gtest.h>

#include <vector>

namespace strata::text {
namespace {

TEST(nearest, counts_edits) {
  EXPECT_EQ(edit_distance("", ""), 0U);
  EXPECT_EQ(edit_distance("", "abc"), 3U);
  EXPECT_EQ(edit_distance("abc", ""), 3U);
  EXPECT_EQ(edit_distance("create", "craete"), 1U);
  EXPECT_EQ(edit_distance("kitten", "sitting"), 3U);
}

TEST(nearest, finds_what_was_meant) {
  const std::vector<std::string> verbs = {"create", "start", "stop", "stats", "restart", "ls"};
  EXPECT_EQ(nearest("craete", verbs), "create");
  EXPECT_EQ(nearest("strat", verbs), "start");
  EXPECT_EQ(nearest("sl", verbs), "ls");
  EXPECT_EQ(nearest("frobnicate", verbs), std::nullopt);
  EXPECT_EQ(nearest("", std::vector<std::string>{"create"}), std::nullopt);
  EXPECT_EQ(nearest(std::string(100000, 'x'), verbs), std::nullopt);
  EXPECT_EQ(did_you_mean("stpo", verbs), " (did you mean 'stop'?)");
  EXPECT_EQ(did_you_mean("frobnicate", verbs), "");
}

TEST(nearest, finds_the_only_one_that_begins_so) {
  const std::vector<std::string> flags = {
      "--retries", "--max-connections", "--max-buffer", "--help", "--cert", "--lua"};
  EXPECT_EQ(nearest("--retry", flags), "--retries");
  EXPECT_EQ(nearest("--max-conn", flags), "--max-connections");
  EXPECT_EQ(nearest("--ret", flags), "--retries");
  EXPECT_EQ(nearest("--max", flags), std::nullopt);
  EXPECT_EQ(nearest("--re", flags), std::nullopt);
  for (const auto* other : {"--http", "--test", "--log", "--json"}) {
    EXPECT_EQ(nearest(other, flags), std::nullopt) << other;
  }
}

}  // namespace
}  // namespace strata::text
