#include "measure/counting/statistics.hpp"

#include <gtest/gtest.h>

#include <vector>

namespace strata::measure {
namespace {

TEST(paths_statistics, median_of_none_one_and_many) {
  EXPECT_EQ(median({}), 0);
  EXPECT_EQ(median(std::vector{7.0}), 7);
  EXPECT_EQ(median(std::vector{9.0, 1.0, 5.0}), 5);
  EXPECT_EQ(median(std::vector{9.0, 1.0, 5.0, 6.0}), 5.5);
}

TEST(paths_statistics, quantiles_lie_between_their_neighbours) {
  const std::vector samples{0.0, 10.0, 20.0, 30.0, 40.0};
  EXPECT_EQ(quantile(samples, 0), 0);
  EXPECT_EQ(quantile(samples, 0.25), 10);
  EXPECT_EQ(quantile(samples, 0.875), 35);
  EXPECT_EQ(quantile(samples, 1), 40);
}

TEST(paths_statistics, an_interval_reaches_from_one_sample_to_another) {
  const auto five = estimate_of(std::vector{3.0, 1.0, 100.0, 2.0, 4.0});
  EXPECT_EQ(five.median, 3);
  EXPECT_EQ(five.low, 1);
  EXPECT_EQ(five.high, 100);
  EXPECT_EQ(five.runs, 5U);
  // Of eight runs, the least and the greatest may be left out.
  const auto eight = estimate_of(std::vector{8.0, 7.0, 6.0, 5.0, 4.0, 3.0, 2.0, 1000.0});
  EXPECT_EQ(eight.low, 3);
  EXPECT_EQ(eight.high, 8);
  EXPECT_EQ(estimate_of({}).runs, 0U);
}

TEST(paths_statistics, its_confidence_follows_from_the_number_of_runs) {
  EXPECT_EQ(confidence_of(0), 0);
  EXPECT_EQ(confidence_of(1), 0);
  EXPECT_DOUBLE_EQ(confidence_of(5), 1 - 2 / 32.0);
  EXPECT_DOUBLE_EQ(confidence_of(8), 1 - 2 * 9 / 256.0);
  EXPECT_LT(confidence_of(least_runs - 1), least_confidence);
  for (std::size_t runs = least_runs; runs <= 1000; ++runs) {
    EXPECT_GE(confidence_of(runs), least_confidence) << runs;
    EXPECT_LE(confidence_of(runs), 1) << runs;
  }
}

// A run that is slow as a whole does not change its comparison of two paths.
TEST(paths_statistics, ratios_and_differences_are_of_each_run_by_itself) {
  const std::vector base{100.0, 10.0, 50.0, 200.0, 1.0};
  std::vector<double> twice;
  for (const double each : base) twice.push_back(2 * each);
  const auto ratio = ratio_of(twice, base);
  EXPECT_EQ(ratio.low, 2);
  EXPECT_EQ(ratio.high, 2);
  const auto difference = difference_of(twice, base);
  EXPECT_EQ(difference.median, 50);
  EXPECT_EQ(difference.high, 200);
}

TEST(paths_statistics, a_bound_within_the_interval_decides_nothing) {
  const estimate figure{.median = 2, .low = 1.5, .high = 2.5, .runs = 5};
  EXPECT_EQ(decide(figure, true, 1.5), ruling::reached);
  EXPECT_EQ(decide(figure, true, 1.6), ruling::undecided);
  EXPECT_EQ(decide(figure, true, 2.6), ruling::missed);
  EXPECT_EQ(decide(figure, false, 2.5), ruling::reached);
  EXPECT_EQ(decide(figure, false, 2.4), ruling::undecided);
  EXPECT_EQ(decide(figure, false, 1.4), ruling::missed);
  const estimate too_few{.median = 2, .low = 1.9, .high = 2.1, .runs = least_runs - 1};
  EXPECT_EQ(decide(too_few, true, 1), ruling::undecided);
  EXPECT_EQ(decide({}, true, 0), ruling::undecided);
}

}  // namespace
}  // namespace strata::measure
