#include "runtime/cache/values/hash_table.hpp"

#include <gtest/gtest.h>

#include <map>
#include <memory>
#include <set>

#include "runtime/cache/values/text_item.hpp"

namespace strata::runtime::cache {
namespace {

using table = hash_table<text_item*, key_of_text>;

// A table that owns its items, with a std::set of the same keys.
class model {
 public:
  explicit model(std::uint64_t seed) : random_(seed) {}
  model(const model&) = delete;
  model& operator=(const model&) = delete;
  ~model() {
    items.for_each([](text_item* each) { text_item::destroy(each); });
  }

  void toggle(const std::string& key) {
    const auto hash = hash_of(key);
    if (auto** const place = items.find(key, hash)) {
      text_item::destroy(items.erase(place, hash));
      keys.erase(key);
    } else {
      items.insert(text_item::make(key), hash);
      keys.insert(key);
    }
  }
  void expect_same() {
    EXPECT_EQ(items.size(), keys.size());
    std::set<std::string> seen;
    items.for_each([&](const text_item* each) {
      EXPECT_TRUE(seen.emplace(each->text()).second) << "visited twice";
    });
    EXPECT_EQ(seen, keys);
    for (const auto& each : keys) EXPECT_NE(items.find(each), nullptr);
  }
  std::mt19937_64& random() { return random_; }

  table items;
  std::set<std::string> keys;

 private:
  std::mt19937_64 random_;
};

std::uint64_t new_seed() {
  const auto seed = std::random_device{}();
  std::printf("seed %u\n", seed);
  return seed;
}

TEST(hash_table, holds_what_is_put_in_while_it_grows_and_shrinks) {
  model both(new_seed());
  for (const int range : {10, 5000, 300, 20'000, 3}) {
    for (int i = 0; i < range * 3; ++i) {
      both.toggle(std::to_string(both.random()() % static_cast<unsigned>(range)));
    }
    both.expect_same();
  }
  while (!both.keys.empty()) both.toggle(*both.keys.begin());
  both.expect_same();
}

TEST(hash_table, scan_visits_what_stays_however_the_table_changes) {
  model both(new_seed());
  for (int i = 0; i < 3000; ++i) both.toggle("stays " + std::to_string(i));
  for (int round = 0; round < 20; ++round) {
    std::set<std::string> seen;
    std::uint64_t cursor = 0;
    int steps = 0;
    do {
      cursor = both.items.scan(cursor, [&](const text_item* each) { seen.emplace(each->text()); });
      // The table alternately grows and shrinks.
      const int count = round % 2 == 0 ? 40 : 4;
      for (int i = 0; i < count; ++i) {
        both.toggle("comes and goes " + std::to_string(both.random()() % 30'000));
      }
      ++steps;
    } while (cursor != 0);
    for (int i = 0; i < 3000; ++i) {
      ASSERT_TRUE(seen.contains("stays " + std::to_string(i))) << "round " << round;
    }
    EXPECT_LT(steps, 100'000);
    if (round % 2 == 1) {
      const auto all = both.keys;
      for (const auto& each : all) {
        if (each.starts_with("comes")) both.toggle(each);
      }
    }
  }
}

TEST(hash_table, random_picks_all_about_as_often) {
  model both(new_seed());
  for (int i = 0; i < 100; ++i) both.toggle(std::to_string(i));
  std::map<std::string_view, int> picked;
  constexpr int rounds = 200'000;
  for (int i = 0; i < rounds; ++i) ++picked[both.items.random(both.random())->text()];
  EXPECT_EQ(picked.size(), 100U);
  for (const auto& [key, count] : picked) {
    EXPECT_GT(count, rounds / 100 / 2) << key;
    EXPECT_LT(count, rounds / 100 * 2) << key;
  }
}

TEST(hash_table, draining_takes_each_item_out_once) {
  for (const std::size_t size : {0, 1, 7, 100, 5000, 300'000}) {
    model of(size);
    for (std::size_t i = 0; i < size; ++i) of.toggle("key " + std::to_string(i));
    std::set<std::string> seen;
    while (of.items.drain(3, [&](text_item* each) {
      EXPECT_TRUE(seen.emplace(each->text()).second) << "taken out twice";
      text_item::destroy(each);
    })) {
    }
    EXPECT_EQ(seen, of.keys);
    EXPECT_EQ(of.items.memory(), 0U);
  }
}

TEST(hash_table, gives_all_memory_back) {
  std::int64_t account = 0;
  {
    const charging scope(account);
    model both(new_seed());
    for (int i = 0; i < 50'000; ++i) both.toggle(std::to_string(i));
    EXPECT_GT(account, 50'000 * 32);  // the items alone
    // A bucket has room for seven; it is at least a third full.
    EXPECT_LT(account, 50'000 * (32 + 32));
  }
  EXPECT_EQ(account, 0);
}

}  // namespace
}  // namespace strata::runtime::cache
