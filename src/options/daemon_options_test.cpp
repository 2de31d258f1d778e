#include "options/daemon_options.hpp"

#include <gtest/gtest.h>

namespace strata::options {
namespace {

TEST(daemon_options, every_default_shown_is_the_default_in_force) {
  const auto json = to_json(daemon_options{}, daemon_table(), true);
  for (const auto& row : daemon_rows()) {
    if (row.default_text.empty()) continue;
    const auto shown = parse_option(row, row.default_text);
    ASSERT_TRUE(shown) << describe(shown.error());
    EXPECT_EQ(*shown, json.at(std::string(row.key))) << row.key;
  }
}

TEST(daemon_options, are_checked_by_their_rows) {
  EXPECT_TRUE(check({}));
  EXPECT_TRUE(check({.state_dir = "/s", .loop = "epoll", .loops = 64, .log_level = "warning"}));
  const auto wrong_level = check({.log_level = "warn"});
  ASSERT_FALSE(wrong_level);
  EXPECT_EQ(describe(wrong_level.error()),
            "cannot set 'log_level' to \"warn\": it takes one of debug|info|warning|error");
  EXPECT_FALSE(check({.socket_role = "root"}));
  EXPECT_FALSE(check({.loop = "select"}));
  EXPECT_FALSE(check({.loops = 65}));
  EXPECT_FALSE(check({.drain_timeout = -1}));
}

}  // namespace
}  // namespace strata::options
