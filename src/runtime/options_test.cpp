#include "runtime/cache/options.hpp"

#include <gtest/gtest.h>

#include "options/option_table.hpp"
#include "runtime/client/options.hpp"
#include "runtime/server/options.hpp"

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
      if (row.default_text.empty()) continue;
      const auto shown = parse_option(row, row.default_text);
      ASSERT_TRUE(shown) << describe(shown.error());
      EXPECT_EQ(*shown, json.at(std::string(row.key))) << row.key;
    }
  };
  check(server::option_table(), server::server_options{});
  check(client::option_table(), client::client_options{});
  check(cache::option_table(), cache::cache_options{});
}

TEST(option_table, a_wrong_value_changes_nothing_and_names_flag_and_value) {
  server::server_options options;
  const auto changed = apply_json(options, server::option_table(),
                                  {{"max_connections", 7}, {"slow_client", "explode"}});
  ASSERT_FALSE(changed);
  EXPECT_EQ(options.max_connections, 0U);
  const auto text = describe(changed.error());
  EXPECT_NE(text.find("--slow-client"), std::string::npos) << text;
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
