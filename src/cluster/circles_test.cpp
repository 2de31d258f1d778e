#include "cluster/circles.hpp"

#include <gtest/gtest.h>

namespace strata::cluster {
namespace {

using names = std::vector<std::string>;
using cards = std::map<std::string, card>;

card daemon(const std::string& name, std::vector<runtime_card> runtimes) {
  return {.daemon = name, .runtimes = std::move(runtimes)};
}

runtime_card proxy(const std::string& name, const std::string& group, names targets) {
  return {.name = name,
          .type = "proxy",
          .state = "running",
          .group = group,
          .targets = std::move(targets)};
}

TEST(circles, a_group_that_two_proxies_are_in_leads_back) {
  const cards all = {{"a", daemon("a", {proxy("front", "web", {"@web"}), proxy("x", "web", {})})},
                     {"b", daemon("b", {proxy("front", "web", {"@web"}), proxy("y", "web", {})})}};
  EXPECT_EQ(leading_to(all, {"front@b", "y@b", "x@a"}, "front@a"), names({"front@b"}));
}

TEST(circles, a_path_over_three_daemons_is_found) {
  const cards all = {{"a", daemon("a", {proxy("p", "", {"q@b"})})},
                     {"b", daemon("b", {proxy("q", "", {"r"})})},
                     {"c", daemon("c", {proxy("r", "", {"p@a"})})}};
  EXPECT_EQ(leading_to(all, {"q@b"}, "p@a"), names({"q@b"}));
}

TEST(circles, a_name_stands_for_the_near_runtime_first) {
  const cards all = {{"a", daemon("a", {proxy("p", "", {"s"})})},
                     {"b", daemon("b", {proxy("s", "", {"p"}), proxy("p", "", {})})}};
  // The s of b connects to the p of b, not to that of a.
  EXPECT_EQ(leading_to(all, {"s@b"}, "p@a"), names());
}

TEST(circles, an_instance_is_its_runtime) {
  const cards all = {{"a", daemon("a", {proxy("p", "", {"s#2@b"})})},
                     {"b", daemon("b", {proxy("s", "", {"p@a"})})}};
  EXPECT_EQ(leading_to(all, {"s@b"}, "p@a"), names({"s@b"}));
}

TEST(circles, targets_that_do_not_exist_lead_nowhere) {
  const cards all = {{"a", daemon("a", {proxy("p", "", {"none", "x@y", "@", ""})})}};
  EXPECT_EQ(leading_to(all, {"q@b", ""}, "p@a"), names());
}

}  // namespace
}  // namespace strata::cluster
