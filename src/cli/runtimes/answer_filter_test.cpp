#include "cli/runtimes/answer_filter.hpp"

#include <gtest/gtest.h>

namespace strata::cli {
namespace {

using nlohmann::json;

const std::vector<column>& columns() {
  static const std::vector<column> all = {
      {"id", "/id"}, {"protocol", "/protocol"}, {"groups", "/groups"}, {"p99", "/latency/p99_ms"}};
  return all;
}

json client() {
  return {{"id", 7},
          {"protocol", "ws"},
          {"groups", {"red", "blue"}},
          {"latency", {{"p99_ms", 1.5}}},
          {"secret", "x"}};
}

bool takes(const json& conditions, const json& object = client()) {
  const auto filter = answer_filter::parse(conditions, columns());
  EXPECT_TRUE(filter) << conditions;
  return filter && filter->takes(object);
}

TEST(answer_filter, compares_whole_values) {
  EXPECT_TRUE(takes(json::array()));
  for (const auto* const same : {"id=7", "protocol=ws", "groups=red", "groups=blue", "p99=1.5"}) {
    EXPECT_TRUE(takes({same})) << same;
  }
  for (const auto* const other : {"id=70", "id=", "id=07", "protocol=w*", "protocol=WS",
                                  "protocol=\"ws\"", "groups=re", "groups=", "p99=1"}) {
    EXPECT_FALSE(takes({other})) << other;
  }
}

TEST(answer_filter, all_conditions_must_hold) {
  EXPECT_TRUE(takes({"id=7", "protocol=ws", "groups=red", "groups=blue"}));
  EXPECT_FALSE(takes({"id=7", "protocol=tcp"}));
  EXPECT_FALSE(takes({"id=7", "id=8"}));
}

TEST(answer_filter, what_is_missing_is_empty) {
  EXPECT_TRUE(takes({"protocol=", "groups=", "p99="}, json::object()));
  EXPECT_TRUE(takes({"groups="}, {{"groups", json::array()}}));
  EXPECT_TRUE(takes({"protocol="}, {{"protocol", nullptr}}));
  EXPECT_TRUE(takes({"protocol=a=b"}, {{"protocol", "a=b"}}));
  EXPECT_FALSE(takes({"p99=1"}, {{"latency", 1}}));
  EXPECT_FALSE(takes({"id=7"}, json::array({1})));
}

TEST(answer_filter, names_the_fields) {
  for (const auto* const wrong : {"", "=", "=7", "id", "height=1", "ID=7", "secret=x"}) {
    const auto refused = answer_filter::parse({wrong}, columns());
    ASSERT_FALSE(refused) << wrong;
    EXPECT_TRUE(refused.error().message.ends_with("id, protocol, groups, p99")) << wrong;
  }
  const auto near = answer_filter::parse({"protocl=x"}, columns());
  EXPECT_TRUE(near.error().message.contains("did you mean 'protocol'?"));
}

}  // namespace
}  // namespace strata::cli
