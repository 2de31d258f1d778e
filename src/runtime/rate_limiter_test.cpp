#include "runtime/rate_limiter.hpp"

#include <gtest/gtest.h>

#include "runtime/counters.hpp"

namespace strata::runtime {
namespace {

TEST(rate_limiter, admits_a_second_s_worth_at_once_and_then_the_rate) {
  std::int64_t due = 0;
  std::int64_t now = 100 * one_second_ns;
  int admitted = 0;
  for (int i = 0; i < 50; ++i) admitted += admit(due, now, 10) ? 1 : 0;
  EXPECT_EQ(admitted, 10);
  now += one_second_ns / 2;
  for (int i = 0; i < 50; ++i) admitted += admit(due, now, 10) ? 1 : 0;
  EXPECT_EQ(admitted, 15);
}

TEST(rate_limiter, zero_is_no_limit) {
  shared_rate_limiter limiter;
  for (int i = 0; i < 1000; ++i) EXPECT_TRUE(limiter.allow(0, 0));
}

TEST(rate_meter, counts_whole_seconds_and_forgets_old_ones) {
  rate_meter meter;
  for (std::uint64_t second = 1000; second < 1100; ++second) meter.add(second, 2);
  EXPECT_EQ(meter.total(1100, 1), 2U);
  EXPECT_EQ(meter.total(1100, 60), 120U);
  EXPECT_EQ(meter.total(1130, 60), 60U);
  EXPECT_EQ(meter.total(2000, 60), 0U);
}

}  // namespace
}  // namespace strata::runtime
