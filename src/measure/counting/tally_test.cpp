#include "measure/counting/tally.hpp"

#include <gtest/gtest.h>

#include <algorithm>
#include <random>
#include <vector>

namespace strata::measure {
namespace {

void give(tally& tally, std::uint64_t sequence, std::uint64_t run = 7) {
  const stamp made{.sequence = sequence, .time_ns = 0, .run = run};
  tally.take(std::as_bytes(std::span(&made, 1)));
}

TEST(paths_tally, counts_what_comes_in_order) {
  tally counted(7, false);
  for (std::uint64_t i = 0; i < 200'000; ++i) give(counted, i);
  EXPECT_EQ(counted.delivered(), 200'000U);
  EXPECT_EQ(counted.duplicates(), 0U);
  EXPECT_EQ(counted.reordered(), 0U);
}

TEST(paths_tally, a_lost_message_is_not_delivered) {
  tally counted(7, false);
  for (std::uint64_t i = 0; i < 1000; ++i) {
    if (i % 10 != 3) give(counted, i);
  }
  EXPECT_EQ(counted.delivered(), 900U);
}

TEST(paths_tally, each_counts_once_however_often_and_in_what_order_it_comes) {
  const auto seed = std::random_device{}();
  std::mt19937 random(seed);
  std::vector<std::uint64_t> order;
  for (std::uint64_t i = 0; i < 20'000; ++i) order.insert(order.end(), {i, i});
  // Swaps neighbours, well within the window.
  for (std::size_t i = 0; i + 500 < order.size(); ++i)
    std::swap(order[i], order[i + random() % 500]);
  tally counted(7, false);
  for (const auto sequence : order) give(counted, sequence);
  EXPECT_EQ(counted.delivered(), 20'000U) << "seed " << seed;
  EXPECT_EQ(counted.duplicates(), 20'000U) << "seed " << seed;
}

TEST(paths_tally, a_late_one_after_a_gap_is_new_once) {
  tally counted(7, false);
  give(counted, 0);
  give(counted, 60'000);
  give(counted, 5);
  give(counted, 5);
  EXPECT_EQ(counted.delivered(), 3U);
  EXPECT_EQ(counted.reordered(), 1U);
  EXPECT_EQ(counted.duplicates(), 1U);
}

TEST(paths_tally, a_bit_is_not_taken_for_that_of_a_sequence_long_ago) {
  tally counted(7, false);
  for (std::uint64_t i = 0; i < 100'000; ++i) give(counted, i);
  give(counted, 170'000);
  give(counted, 165'000);
  EXPECT_EQ(counted.delivered(), 100'002U);
}

TEST(paths_tally, what_is_not_of_this_run_is_a_stray) {
  tally counted(7, false);
  give(counted, 0, 6);
  counted.take(as_bytes("short"));
  counted.take({});
  EXPECT_EQ(counted.delivered(), 0U);
  EXPECT_EQ(counted.strays(), 3U);
}

}  // namespace
}  // namespace strata::measure
