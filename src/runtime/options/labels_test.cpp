#include "runtime/options/labels.hpp"

#include <gtest/gtest.h>

#include <nlohmann/json.hpp>
#include <vector>

namespace strata::runtime {
namespace {

using labels = std::vector<std::string>;

std::string reason_of(const labels& wrong) {
  const auto checked = check_labels(wrong);
  return checked ? "" : describe(checked.error());
}

TEST(labels, keys_and_values_have_the_letters_of_names) {
  EXPECT_TRUE(check_labels(labels{"app=shop", "tier=", "example.com/owner=team-a_1"}));
  EXPECT_TRUE(check_labels(labels{std::string(63, 'k') + "=" + std::string(255, 'v')}));
  for (const auto* const wrong :
       {"app", "=shop", "-a=b", "a b=c", "a=b c", "a=b=c", "a=\n", "ä=b"}) {
    EXPECT_NE(reason_of({wrong}).find("'" + std::string(wrong) + "'"), std::string::npos) << wrong;
  }
  EXPECT_NE(reason_of({std::string(64, 'k') + "=v"}), "");
  EXPECT_NE(reason_of({"k=" + std::string(256, 'v')}), "");
}

TEST(labels, a_key_occurs_once) {
  EXPECT_NE(reason_of({"app=shop", "app=bank"}).find("another label with the key 'app'"),
            std::string::npos);
}

TEST(labels, they_are_an_object_in_json) {
  EXPECT_EQ(labels_json(labels{"app=shop", "tier="}),
            (nlohmann::json{{"app", "shop"}, {"tier", ""}}));
  EXPECT_EQ(labels_json(labels{}), nlohmann::json::object());
}

}  // namespace
}  // namespace strata::runtime
