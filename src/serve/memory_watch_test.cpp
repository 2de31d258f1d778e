#include "serve/memory_watch.hpp"

#include <gtest/gtest.h>

#include <chrono>

namespace strata::serve {
namespace {

using namespace std::chrono_literals;

std::vector<int> chosen(std::vector<held_memory<int>> all, std::uint64_t limit) {
  std::uint64_t sum = 0;
  for (const auto& each : all) sum += each.bytes;
  std::vector<int> names;
  for (const auto& each : longest_unfinished(all, sum, limit)) names.push_back(each.by);
  return names;
}

constexpr loop::time_point at(int second) { return loop::time_point() + 1s * second; }

TEST(memory_watch, those_whose_last_message_is_longest_ago_go_until_an_eighth_is_free) {
  EXPECT_EQ(chosen({{1, 300, at(9)}, {2, 300, at(3)}, {3, 300, at(5)}, {4, 300, at(1)}}, 800),
            (std::vector{4, 2}));
  EXPECT_EQ(chosen({{1, 801, at(9)}, {2, 0, at(3)}}, 800), std::vector{1})
      << "one that holds nothing would free nothing";
  EXPECT_EQ(chosen({{1, 700, at(9)}}, 800), std::vector<int>{});
}

}  // namespace
}  // namespace strata::serve
