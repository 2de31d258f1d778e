#include "cli/runtimes/filter.hpp"

#include <gtest/gtest.h>

#include <nlohmann/json.hpp>

namespace strata::cli {
namespace {

using nlohmann::json;

const json web = {{"name", "web"}, {"type", "server"}, {"state", "running"}, {"group", "front"}};

bool takes(const json& value, const json& runtime) {
  const auto filter = runtime_filter::parse(value);
  EXPECT_TRUE(filter) << value;
  return filter && filter->takes(runtime);
}

TEST(filter, values_are_globs) {
  EXPECT_TRUE(takes(json::array(), web));
  EXPECT_TRUE(takes({"name=w*"}, web));
  EXPECT_TRUE(takes({"state=running"}, web));
  EXPECT_FALSE(takes({"state=run"}, web));
  EXPECT_TRUE(takes({"owner="}, web));
  EXPECT_FALSE(takes({"owner=?*"}, web));
}

TEST(filter, one_value_of_each_key_must_fit) {
  EXPECT_TRUE(takes({"type=cache", "type=server"}, web));
  EXPECT_TRUE(takes({"type=server", "group=f*"}, web));
  EXPECT_FALSE(takes({"type=server", "group=back"}, web));
}

TEST(filter, what_the_daemon_sends_may_be_odd) {
  for (const auto& odd : {json(5), json(nullptr), json::array(), json{{"name", {1}}}}) {
    EXPECT_FALSE(takes({"name=?*"}, odd));
    EXPECT_TRUE(takes(json::array(), odd));
  }
}

TEST(filter, refuses_what_it_does_not_know) {
  for (const auto* wrong : {"", "=", "=running", "state", "nope=1"}) {
    const auto refused = runtime_filter::parse({wrong});
    ASSERT_FALSE(refused) << wrong;
    EXPECT_EQ(refused.error().exit, exit_misused);
    EXPECT_NE(refused.error().message.find("state, type, group, owner, name"), std::string::npos);
  }
  EXPECT_NE(runtime_filter::parse({"stat=x"}).error().message.find("did you mean 'state'?"),
            std::string::npos);
}

}  // namespace
}  // namespace strata::cli
