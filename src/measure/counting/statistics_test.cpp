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

TEST(paths_statistics, the_spread_of_equal_samples_is_none_and_of_too_few_unknown) {
  EXPECT_EQ(relative_spread(std::vector{4.0, 4.0, 4.0}), 0);
  EXPECT_EQ(relative_spread(std::vector{4.0}), 1);
  EXPECT_EQ(relative_spread({}), 1);
}

TEST(paths_statistics, the_spread_shrinks_with_more_samples_and_ignores_one_wild_one) {
  std::vector<double> few{90, 100, 110, 95, 105};
  std::vector<double> many;
  for (int i = 0; i < 20; ++i) many.insert(many.end(), few.begin(), few.end());
  EXPECT_LT(relative_spread(many), relative_spread(few) / 3);
  std::vector<double> wild = many;
  wild.push_back(1e9);
  EXPECT_NEAR(relative_spread(wild), relative_spread(many), 0.01);
}

}  // namespace
}  // namespace strata::measure
