#include "cluster/card.hpp"

#include <gtest/gtest.h>

namespace strata::cluster {
namespace {

TEST(card, is_read_as_it_was_written) {
  const card written{.daemon = "east-1.a_b",
                     .version = "0.1.0",
                     .control = "https://10.0.0.1:7000",
                     .zone = "hall-2",
                     .labels = {{"region", "eu"}, {"empty", ""}},
                     .runtimes = {{.name = "api",
                                   .type = "server",
                                   .state = "running",
                                   .group = "web",
                                   .endpoints = {"tcp://10.0.0.1:80", "tcp://10.0.0.1:81"},
                                   .labels = {{"tier", "web"}, {"empty", ""}},
                                   .connections = 7},
                                  {.name = "db", .type = "cache", .state = "stopped"}}};
  const auto read = read_card(write_card(written));
  ASSERT_TRUE(read);
  EXPECT_EQ(*read, written);
}

TEST(card, one_of_a_newer_daemon_is_read) {
  const auto read = read_card(R"({"daemon": "a", "news": [1],
      "runtimes": [{"name": "x", "news": {}}]})");
  ASSERT_TRUE(read);
  EXPECT_EQ(read->runtimes.at(0).name, "x");
  EXPECT_TRUE(read_card(R"({"daemon": "a"})"));
}

TEST(card, what_is_not_one_is_refused) {
  for (const std::string text :
       {"",
        "{",
        "[]",
        "1",
        "null",
        R"({"daemon": 1})",
        R"({"daemon": ""})",
        R"({"daemon": "a/b"})",
        R"({"daemon": ".."})",
        R"({"daemon": "a", "runtimes": {}})",
        R"({"daemon": "a", "zone": 1})",
        R"({"daemon": "a", "zone": "a b"})",
        R"({"daemon": "a", "labels": ["x=y"]})",
        R"({"daemon": "a", "labels": {"x": 1}})",
        R"({"daemon": "a", "runtimes": [1]})",
        R"({"daemon": "a", "runtimes": [{}]})",
        R"({"daemon": "a", "runtimes": [{"name": "x", "state": 1}]})",
        R"({"daemon": "a", "runtimes": [{"name": "x", "endpoints": "y"}]})",
        R"({"daemon": "a", "runtimes": [{"name": "x", "endpoints": [1]}]})",
        R"({"daemon": "a", "runtimes": [{"name": "x", "labels": {"k": 1}}]})",
        R"({"daemon": "a", "runtimes": [{"name": "x", "connections": -1}]})"}) {
    const auto read = read_card(text);
    ASSERT_FALSE(read) << text;
    EXPECT_EQ(read.error().code, errc::malformed) << text;
  }
  EXPECT_FALSE(read_card(R"({"daemon": "a", "x": ")" + std::string(longest_card, 'x') + "\"}"));
  EXPECT_FALSE(read_card(std::string(100'000, '[')));
}

TEST(card, bytes_that_are_not_utf_8_do_not_break_it) {
  const card written{.daemon = "a",
                     .runtimes = {{.name = "x", .type = "server", .state = "\xff\xfe"}}};
  EXPECT_TRUE(read_card(write_card(written)));
}

TEST(card, names_of_daemons) {
  for (const auto* const good : {"a", "A-1", "east.example.org", "_x"}) {
    EXPECT_TRUE(is_daemon_name(good)) << good;
  }
  for (const auto& bad : {std::string(), std::string("a b"), std::string("a/b"), std::string("."),
                          std::string("..x"), std::string("é"), std::string(129, 'a')}) {
    EXPECT_FALSE(is_daemon_name(bad)) << bad;
  }
}

}  // namespace
}  // namespace strata::cluster
