#include "options/latency.hpp"

#include <gtest/gtest.h>

#include <limits>

namespace strata::options {
namespace {

TEST(latency, nothing_took_no_time) {
  const latency none;
  EXPECT_EQ(none.count(), 0U);
  EXPECT_EQ(none.percentile_us(0.99), 0U);
  EXPECT_EQ(to_json(none)["max_ms"], 0);
}

TEST(latency, a_percentile_is_at_most_a_fourth_too_long) {
  latency of;
  for (std::uint64_t us = 1; us <= 100'000; ++us) of.add(us);
  EXPECT_EQ(of.count(), 100'000U);
  EXPECT_EQ(of.max_us(), 100'000U);
  for (const double part : {0.001, 0.1, 0.5, 0.9, 0.99, 1.0}) {
    const auto exact = part * 100'000;
    const auto reported = static_cast<double>(of.percentile_us(part));
    EXPECT_GE(reported, exact);
    EXPECT_LE(reported, exact * 1.25) << part;
  }
}

TEST(latency, bounds_count_exactly) {
  latency of;
  for (std::uint64_t us = 1; us <= 3000; ++us) of.add(us);
  EXPECT_EQ(of.count_within(100), 100U);
  EXPECT_EQ(of.count_within(250), 250U);
  EXPECT_EQ(of.count_within(2500), 2500U);
  EXPECT_EQ(of.count_within(5000), 3000U);
  EXPECT_EQ(to_json(of)["within_ms"]["0.25"], 250);
  EXPECT_EQ(to_json(of)["within_ms"]["50000"], 3000);
}

TEST(latency, what_takes_for_ever_is_counted_too) {
  latency of;
  of.add(std::uint64_t{1} << 40U);
  EXPECT_EQ(of.count(), 1U);
  EXPECT_EQ(of.percentile_us(0.5), std::uint64_t{1} << 40U);
  EXPECT_EQ(of.count_within(latency::bounds_us().back()), 0U);
}

TEST(latency, parts_are_added_up_but_the_longest_is_the_longest) {
  latency one;
  one.add(10);
  latency other;
  other.add(30'000);
  one.add(other);
  EXPECT_EQ(one.count(), 2U);
  EXPECT_EQ(one.sum_us(), 30'010U);
  EXPECT_EQ(one.max_us(), 30'000U);
  EXPECT_EQ(one.percentile_us(0.5), 10U);
}

}  // namespace
}  // namespace strata::options
