#include "runtime/cache/options.hpp"

#include <gtest/gtest.h>

#include <algorithm>

#include "options/effects.hpp"
#include "options/option_table.hpp"
#include "runtime/client/options.hpp"
#include "runtime/program/options.hpp"
#include "runtime/proxy/options.hpp"
#include "runtime/server/options.hpp"
#include "runtime/sharded.hpp"
#include "runtime/types/types.hpp"

namespace strata::runtime {
namespace {

TEST(option_table, sizes_and_durations_take_units) {
  EXPECT_EQ(*options::parse_size("64K"), 65536U);
  EXPECT_EQ(*options::parse_size("1.5MiB"), 1572864U);
  EXPECT_EQ(*options::parse_seconds("500ms"), 0.5);
  EXPECT_EQ(*options::parse_seconds("2m"), 120);
  for (const auto* bad : {"", "x", "-1", "1 K", "1KB", "nan", "inf", "1e999"}) {
    EXPECT_FALSE(options::parse_size(bad)) << bad;
    EXPECT_FALSE(options::parse_seconds(bad)) << bad;
  }
}

TEST(option_table, every_default_shown_is_the_default_in_force) {
  const auto check = [](const auto& table, const auto& options) {
    const auto json = to_json(options, table, true);
    for (const auto& [row, member] : table) {
      const auto& in_force = json.at(std::string(row.key));
      if (row.default_text.empty()) {
        const bool is_unset = in_force == false || in_force == "" || in_force.empty();
        EXPECT_TRUE(is_unset) << row.key << " is " << in_force;
        continue;
      }
      const auto shown = parse_option(row, row.default_text);
      ASSERT_TRUE(shown) << describe(shown.error());
      EXPECT_EQ(*shown, in_force) << row.key;
    }
  };
  check(server::option_table(), server::server_options{});
  check(client::option_table(), client::client_options{});
  check(cache::option_table(), cache::cache_options{});
  check(proxy::option_table(), proxy::proxy_options{});
  check(program::option_table(), program::program_options{});
}

TEST(option_table, what_an_option_needs_is_an_option_with_such_a_value) {
  for (const auto& type : types()) {
    for (const auto& row : type.rows()) {
      if (row.only_with.empty()) continue;
      auto all = nlohmann::json::object();
      for (const auto& other : type.rows()) all[std::string(other.key)] = nullptr;
      const nlohmann::json given = {{std::string(row.key), "something"}};
      const auto refused = options::check_effects(type.rows(), given, all, {});
      ASSERT_FALSE(refused) << type.name << " " << row.key;
      const auto condition = row.only_with.substr(0, row.only_with.find('|'));
      const std::string key(condition.substr(0, condition.find('=')));
      ASSERT_TRUE(all.contains(key)) << type.name << " " << row.key;
      all[key] = condition.contains('=') ? condition.substr(key.size() + 1) : "something";
      auto without_endpoint = row;
      without_endpoint.only_on = {};
      std::vector<options::option_row> rows = type.rows();
      *std::ranges::find(rows, row.key, &options::option_row::key) = without_endpoint;
      EXPECT_TRUE(options::check_effects(rows, given, all, {})) << type.name << " " << row.key;
    }
  }
}

TEST(option_table, what_endpoints_have_to_carry_is_something_that_one_carries) {
  auto known = carried_by({"wss://h:1", "udp://h:1", "l2://e/0x88b5"});
  for (const auto* const by_types :
       {"HTTP", "TLS to backends", "messages", "WebSocket backends", "PROXY headers"}) {
    known.emplace_back(by_types);
  }
  for (const auto& type : types()) {
    for (const auto& row : type.rows()) {
      for (auto words = row.only_on; !words.empty();) {
        const auto word = words.substr(0, words.find('|'));
        words.remove_prefix(std::min(words.size(), word.size() + 1));
        const bool is_known = std::ranges::find(known, word) != known.end();
        EXPECT_TRUE(is_known) << type.name << " " << row.key << " " << word;
      }
    }
  }
}

TEST(option_table, a_wrong_value_changes_nothing_and_names_option_and_value) {
  server::server_options options;
  const auto changed = apply_json(options, server::option_table(),
                                  {{"max_connections", 7}, {"slow_client", "explode"}});
  ASSERT_FALSE(changed);
  EXPECT_EQ(options.max_connections, 0U);
  const auto text = describe(changed.error());
  EXPECT_NE(text.find("'slow_client'"), std::string::npos) << text;
  EXPECT_NE(text.find("explode"), std::string::npos) << text;
  EXPECT_NE(text.find("drop|disconnect"), std::string::npos) << text;
}

TEST(option_table, wrong_types_are_refused_for_every_option) {
  for (const auto& bound : server::option_table()) {
    for (const nlohmann::json& value :
         {nlohmann::json(-1), nlohmann::json({{"a", 1}}), nlohmann::json({1, 2})}) {
      server::server_options options;
      EXPECT_FALSE(
          apply_json(options, server::option_table(), {{std::string(bound.row.key), value}}))
          << bound.row.key << " took " << value;
    }
  }
  server::server_options options;
  EXPECT_FALSE(apply_json(options, server::option_table(), nlohmann::json::array()));
  EXPECT_FALSE(apply_json(options, server::option_table(), {{"no_such_option", 1}}));
}

TEST(option_table, null_resets_and_secrets_are_hidden) {
  server::server_options options;
  ASSERT_TRUE(apply_json(options, server::option_table(), {{"port", 9000}, {"master_pw", "hush"}}));
  EXPECT_EQ(options.port, 9000U);
  EXPECT_EQ(to_json(options, server::option_table(), false)["master_pw"], "********");
  EXPECT_EQ(to_json(options, server::option_table(), true)["master_pw"], "hush");
  ASSERT_TRUE(
      apply_json(options, server::option_table(), {{"port", nullptr}, {"master_pw", nullptr}}));
  EXPECT_FALSE(options.port);
  EXPECT_EQ(to_json(options, server::option_table(), false)["master_pw"], "");
}

}  // namespace
}  // namespace strata::runtime
