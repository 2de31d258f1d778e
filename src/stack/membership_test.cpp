#include "stack/membership.hpp"

#include <gtest/gtest.h>

namespace strata::stack {
namespace {

using nlohmann::json;

json labels_after(json desired_options, const std::optional<json>& present_options) {
  desired_runtime desired{.name = "a", .type = "server", .options = std::move(desired_options)};
  std::optional<present_runtime> present;
  if (present_options) present = {.type = "server", .options = *present_options};
  join_stack(desired, "shop", present);
  return desired.options.value("label", json());
}

TEST(membership, a_stack_labels_what_it_creates) {
  EXPECT_EQ(labels_after(json::object(), std::nullopt), (json{"strata.stack=shop"}));
  EXPECT_EQ(labels_after({{"label", {"a=b"}}}, std::nullopt), (json{"a=b", "strata.stack=shop"}));
}

TEST(membership, what_exists_keeps_its_stack) {
  EXPECT_EQ(labels_after(json::object(), json{{"label", {"strata.stack=shop"}}}), json());
  EXPECT_EQ(labels_after({{"label", {"a=b"}}}, json{{"label", {"strata.stack=bank", "c=d"}}}),
            (json{"a=b", "strata.stack=bank"}));
  EXPECT_EQ(labels_after({{"label", nullptr}}, json{{"label", {"strata.stack=shop"}}}),
            (json{"strata.stack=shop"}));
  EXPECT_EQ(labels_after({{"label", {"a=b"}}}, json::object()), (json{"a=b"}));
}

TEST(membership, the_label_names_the_stack) {
  EXPECT_EQ(stack_of({{"label", {"a=b", "strata.stack=shop"}}}), "shop");
  EXPECT_EQ(stack_of({{"label", {"strata.stacks=shop"}}}), "");
  EXPECT_EQ(stack_of(json::object()), "");
}

}  // namespace
}  // namespace strata::stack
