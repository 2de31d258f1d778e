#include "strata/nl/ethtool.hpp"

#include <gtest/gtest.h>

#include <algorithm>
#include <array>

#include "l2/veth_test.hpp"

namespace strata::nl {
namespace {

class ethtool_test : public l2::veth_test {
 protected:
  static ethtool open() {
    auto made = ethtool::open();
    if (!made) throw std::runtime_error(describe(made.error()));
    return std::move(*made);
  }
  static interface_feature feature(ethtool& ethtool, std::string_view name) {
    const auto all = ethtool.features("vethA");
    if (!all) throw std::runtime_error(describe(all.error()));
    const auto found = std::ranges::find(*all, name, &interface_feature::name);
    if (found == all->end()) throw std::runtime_error("no " + std::string(name));
    return *found;
  }
};

TEST_F(ethtool_test, features_are_switched) {
  auto on = open();
  EXPECT_TRUE(feature(on, "tx-tcp-segmentation").can_change);
  EXPECT_TRUE(feature(on, "tx-tcp-segmentation").is_active);
  ASSERT_TRUE(on.set_features("vethA", std::array{feature_change{"tx-tcp-segmentation", false}}));
  EXPECT_FALSE(feature(on, "tx-tcp-segmentation").is_active);
  ASSERT_TRUE(on.set_features("vethA", std::array{feature_change{"tx-tcp-segmentation", true}}));
  EXPECT_TRUE(feature(on, "tx-tcp-segmentation").is_active);
  const auto unknown = on.set_features("vethA", std::array{feature_change{"warp", true}});
  ASSERT_FALSE(unknown);
  EXPECT_EQ(unknown.error().code, errc::not_supported) << describe(unknown.error());
  EXPECT_NE(describe(unknown.error()).find("bit name not found"), std::string::npos)
      << describe(unknown.error());
}

TEST_F(ethtool_test, what_segmentation_needs_is_wanted_only) {
  auto on = open();
  ASSERT_TRUE(on.set_features("vethA", std::array{feature_change{"tx-scatter-gather", false}}));
  const auto without = feature(on, "tx-generic-segmentation");
  EXPECT_TRUE(without.is_wanted);
  EXPECT_FALSE(without.is_active);
}

TEST_F(ethtool_test, channels_are_counted_and_changed) {
  l2::run_command("ip link add wideA numrxqueues 4 numtxqueues 4 type veth peer wideB");
  auto on = open();
  const auto before = on.channels("wideA");
  ASSERT_TRUE(before) << describe(before.error());
  EXPECT_EQ(before->rx.most, 4U);
  EXPECT_EQ(before->tx.most, 4U);
  ASSERT_TRUE(on.set_channels("wideA", {.rx = 2, .tx = 3}));
  const auto after = on.channels("wideA");
  EXPECT_EQ(after->rx, (bounded_count{2, 4}));
  EXPECT_EQ(after->tx, (bounded_count{3, 4}));
  const auto too_many = on.set_channels("wideA", {.rx = 5});
  ASSERT_FALSE(too_many);
  EXPECT_EQ(too_many.error().sys_errno, EINVAL);
  EXPECT_NE(describe(too_many.error()).find("exceeds maximum"), std::string::npos)
      << describe(too_many.error());
}

TEST_F(ethtool_test, what_is_not_there_is_a_clear_error) {
  auto on = open();
  EXPECT_EQ(on.rings("lo").error().code, errc::not_supported);
  EXPECT_EQ(on.set_rings("lo", {.rx = 1}).error().code, errc::not_supported);
  const auto absent = on.features("none0");
  ASSERT_FALSE(absent);
  EXPECT_EQ(absent.error().code, errc::not_found);
  EXPECT_NE(describe(absent.error()).find("none0"), std::string::npos);
  EXPECT_FALSE(on.channels(std::string(40, 'x')));
  EXPECT_FALSE(on.channels(""));
}

}  // namespace
}  // namespace strata::nl
