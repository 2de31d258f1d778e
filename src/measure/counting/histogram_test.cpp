#include "measure/counting/histogram.hpp"

#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>
#include <random>

namespace strata::measure {
namespace {

TEST(paths_histogram, is_empty_at_first) {
  const histogram empty;
  EXPECT_EQ(empty.total(), 0U);
  EXPECT_EQ(empty.percentile(0.5), 0);
  EXPECT_TRUE(empty.buckets().empty());
}

TEST(paths_histogram, keeps_small_values_exactly) {
  histogram times;
  for (std::uint64_t value = 0; value < 64; ++value) times.record(value);
  EXPECT_EQ(times.percentile(0), 0);
  EXPECT_EQ(times.percentile(0.5), 32);
  EXPECT_EQ(times.percentile(1), 63);
}

TEST(paths_histogram, is_exact_to_its_buckets_over_all_magnitudes) {
  const auto seed = std::random_device{}();
  RecordProperty("seed", static_cast<int>(seed));
  std::mt19937_64 random(seed);
  for (int bits = 1; bits <= 64; ++bits) {
    const std::uint64_t value = random() >> (64 - bits);
    histogram times;
    times.record(value);
    const auto exact = static_cast<double>(value);
    EXPECT_NEAR(times.percentile(0.5), exact, exact / 64 + 0.5) << "seed " << seed;
  }
}

TEST(paths_histogram, percentiles_are_those_of_the_sorted_values) {
  const auto seed = std::random_device{}();
  std::mt19937_64 random(seed);
  std::lognormal_distribution<> times_ns(8, 1);
  std::vector<double> values;
  histogram times;
  for (int i = 0; i < 10'000; ++i) {
    const auto value = static_cast<std::uint64_t>(times_ns(random));
    values.push_back(static_cast<double>(value));
    times.record(value);
  }
  std::ranges::sort(values);
  for (const double part : {0.1, 0.5, 0.9, 0.99, 0.999}) {
    const double exact = values[static_cast<std::size_t>(part * 10'000)];
    EXPECT_NEAR(times.percentile(part), exact, exact / 50 + 1) << "seed " << seed;
  }
}

TEST(paths_histogram, travels_as_its_buckets) {
  histogram one;
  histogram other;
  for (const std::uint64_t value : {5ULL, 5ULL, 1000ULL, ~0ULL}) one.record(value);
  other.add(one.buckets());
  other.add(one.buckets());
  EXPECT_EQ(other.total(), 8U);
  EXPECT_EQ(other.percentile(0.5), one.percentile(0.5));
}

TEST(paths_histogram, leaves_out_buckets_that_do_not_exist) {
  histogram times;
  times.add({{4'000'000'000U, 7}, {3, 1}});
  EXPECT_EQ(times.total(), 1U);
}

}  // namespace
}  // namespace strata::measure
