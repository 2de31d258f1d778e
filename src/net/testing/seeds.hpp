// For randomized tests: the seeds that they try.
#pragma once

#include <gtest/gtest.h>

#include <cstdint>
#include <cstdlib>
#include <string>

namespace strata {

/// How many seeds a test tries, and the first: STRATA_SEEDS=N, or STRATA_SEED=S for one alone.
struct seed_range {
  std::uint64_t first = 1;
  std::uint64_t count = 200;
};
[[nodiscard]] inline seed_range seeds_from_environment() {
  if (const char* one = std::getenv("STRATA_SEED")) return {std::strtoull(one, nullptr, 10), 1};
  if (const char* many = std::getenv("STRATA_SEEDS")) {
    return {1, std::strtoull(many, nullptr, 10)};
  }
  return {};
}

/// Runs `test(seed)` for each seed, and names the seed that fails.
template <class Test>
void for_each_seed(Test test) {
  const auto range = seeds_from_environment();
  for (auto seed = range.first; seed < range.first + range.count; ++seed) {
    SCOPED_TRACE("seed " + std::to_string(seed) +
                 ": run it alone with STRATA_SEED=" + std::to_string(seed));
    test(seed);
    if (testing::Test::HasFailure()) return;
  }
}

}  // namespace strata
