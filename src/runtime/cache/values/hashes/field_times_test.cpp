#include "runtime/cache/values/hashes/field_times.hpp"

#include <gtest/gtest.h>

#include <map>
#include <random>
#include <string>

#include "runtime/cache/values/hash_value.hpp"

namespace strata::runtime::cache {
namespace {

constexpr hash_limits limits{512, 64};

TEST(field_times, finds_what_was_set_in_the_order_of_the_times) {
  field_times times;
  times.set("b", 20);
  times.set("a", 30);
  times.set("c", 10);
  EXPECT_EQ(times.first_name(), "c");
  EXPECT_EQ(times.first_ms(), 10);
  times.set("c", 40);
  EXPECT_EQ(times.first_name(), "b");
  EXPECT_EQ(times.find("c"), 40);
  EXPECT_EQ(times.find("d"), std::nullopt);
  EXPECT_EQ(times.count_until(19), 0U);
  EXPECT_EQ(times.count_until(30), 2U);
  EXPECT_TRUE(times.erase("b"));
  EXPECT_FALSE(times.erase("b"));
  EXPECT_EQ(times.first_name(), "a");
  EXPECT_EQ(times.size(), 2U);
}

TEST(field_times, behaves_like_a_map) {
  const auto seed = std::random_device{}();
  RecordProperty("seed", std::to_string(seed));
  std::mt19937 random(seed);
  std::int64_t account = 0;
  {
    const charging scope(account);
    field_times times;
    std::map<std::string, std::int64_t> model;
    for (int i = 0; i < 20'000; ++i) {
      const auto name = std::to_string(random() % 500);
      if (random() % 3 == 0) {
        EXPECT_EQ(times.erase(name), model.erase(name) != 0) << seed;
      } else {
        const auto at_ms = static_cast<std::int64_t>(random() % 1000);
        times.set(name, at_ms);
        model[name] = at_ms;
      }
    }
    ASSERT_EQ(times.size(), model.size()) << seed;
    const field_times copy(times);
    std::size_t early = 0;
    for (const auto& [name, at_ms] : model) {
      EXPECT_EQ(times.find(name), at_ms) << seed;
      EXPECT_EQ(copy.find(name), at_ms) << seed;
      early += at_ms <= 500 ? 1 : 0;
    }
    EXPECT_EQ(times.count_until(500), early) << seed;
    while (times.shed(16)) EXPECT_NE(times.size(), 0U);
  }
  EXPECT_EQ(account, 0);
}

class timed_hash : public testing::TestWithParam<int> {};

TEST_P(timed_hash, has_times_only_while_a_field_has_one) {
  std::int64_t account = 0;
  {
    const charging scope(account);
    hash_value hash;
    for (int i = 0; i < GetParam(); ++i) hash.set("f" + std::to_string(i), "v", limits);
    const auto bare = hash.memory();
    EXPECT_EQ(hash.times(), nullptr);
    EXPECT_FALSE(hash.has_overdue(INT64_MAX));
    hash.set_expiry("f0", 10);
    hash.set_expiry("f1", 20);
    EXPECT_GT(hash.memory(), bare);
    EXPECT_FALSE(hash.has_overdue(9));
    EXPECT_TRUE(hash.has_overdue(10));
    EXPECT_EQ(hash.count_overdue(20), 2U);
    hash.set("f0", "w", limits);
    EXPECT_EQ(hash.expiry_of("f0"), std::nullopt);
    const hash_value copy(hash);
    EXPECT_EQ(copy.expiry_of("f1"), 20);
    EXPECT_TRUE(hash.erase("f1"));
    EXPECT_EQ(hash.times(), nullptr);
    EXPECT_FALSE(hash.persist("f1"));
    EXPECT_EQ(copy.expiry_of("f1"), 20);
  }
  EXPECT_EQ(account, 0);
}

TEST_P(timed_hash, is_freed_bit_by_bit) {
  std::int64_t account = 0;
  {
    const charging scope(account);
    hash_value hash;
    for (int i = 0; i < GetParam(); ++i) {
      const auto name = "f" + std::to_string(i);
      hash.set(name, "v", limits);
      hash.set_expiry(name, i + 1);
    }
    while (hash.shed(16)) {
    }
  }
  EXPECT_EQ(account, 0);
}

INSTANTIATE_TEST_SUITE_P(sizes, timed_hash, testing::Values(2, 600));

}  // namespace
}  // namespace strata::runtime::cache
