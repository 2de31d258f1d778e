#include "runtime/cache/values/int_set.hpp"

#include <gtest/gtest.h>

#include <random>
#include <set>

namespace strata::runtime::cache {
namespace {

TEST(int_set, does_what_a_set_does) {
  const auto seed = std::random_device{}();
  std::printf("seed %u\n", seed);
  std::mt19937_64 random(seed);
  for (const unsigned bits : {4U, 14U, 30U, 62U}) {
    int_set made;
    std::set<std::int64_t> model;
    for (int step = 0; step < 3000; ++step) {
      const auto value =
          static_cast<std::int64_t>(random() >> (64 - bits)) - (std::int64_t{1} << (bits - 1));
      if (random() % 2 == 0) {
        EXPECT_EQ(made.insert(value), model.insert(value).second);
      } else {
        EXPECT_EQ(made.erase(value), model.erase(value) == 1);
      }
      EXPECT_EQ(made.contains(value), model.contains(value));
    }
    ASSERT_EQ(made.size(), model.size());
    std::size_t index = 0;
    for (const auto each : model) EXPECT_EQ(made[index++], each);
    const auto again = int_set::load(made.dump());
    ASSERT_TRUE(again);
    EXPECT_EQ(again->size(), model.size());
  }
}

TEST(int_set, load_refuses_what_is_none) {
  EXPECT_FALSE(int_set::load(""));
  EXPECT_FALSE(int_set::load(std::string_view("\x02\0\0\0\x01\0\0\0", 8)));
  EXPECT_FALSE(int_set::load(std::string_view("\x03\0\0\0\0\0\0\0", 8)));
  EXPECT_FALSE(int_set::load(std::string_view("\x02\0\0\0\x02\0\0\0\x05\0\x04\0", 12)));
  EXPECT_FALSE(int_set::load(std::string_view("\x02\0\0\0\xff\xff\xff\xff\x05\0\x04\0", 12)));
}

}  // namespace
}  // namespace strata::runtime::cache
