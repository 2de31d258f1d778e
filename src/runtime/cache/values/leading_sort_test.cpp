// The sort of the first elements: random ranges with many equal elements.
#include "runtime/cache/values/leading_sort.hpp"

#include <gtest/gtest.h>

#include <algorithm>
#include <random>
#include <vector>

namespace strata::runtime::cache {
namespace {

TEST(leading_sort, puts_the_first_elements_in_order) {
  const auto seed = std::random_device{}();
  SCOPED_TRACE(testing::Message() << "seed " << seed);
  std::mt19937 random(seed);
  const leading_sort<int, std::less<>> sort{std::less<>{}};
  for (int turn = 0; turn < 2000; ++turn) {
    std::vector<int> all(random() % 200);
    const auto different = 1 + random() % 60;
    for (auto& each : all) each = static_cast<int>(random() % different);
    auto expected = all;
    std::ranges::sort(expected);
    const auto count = random() % (all.size() + 1);
    sort.sort(all, count);
    EXPECT_TRUE(std::equal(all.begin(), all.begin() + static_cast<std::ptrdiff_t>(count),
                           expected.begin()));
    std::ranges::sort(all);
    EXPECT_EQ(all, expected);
  }
}

}  // namespace
}  // namespace strata::runtime::cache
