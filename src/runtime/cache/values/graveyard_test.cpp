#include "runtime/cache/values/graveyard.hpp"

#include <gtest/gtest.h>

#include "runtime/cache/values/hash_value.hpp"
#include "runtime/cache/values/list_value.hpp"
#include "runtime/cache/values/set_value.hpp"
#include "runtime/cache/values/sorted_set.hpp"

namespace strata::runtime::cache {
namespace {

std::string name_of_number(int number) { return "element " + std::to_string(number); }

std::unique_ptr<collection> make_value(value_kind kind, int size) {
  auto list = std::make_unique<list_value>();
  auto hash = std::make_unique<hash_value>();
  auto set = std::make_unique<set_value>();
  auto sorted = std::make_unique<sorted_set>();
  for (int i = 0; i < size; ++i) {
    const auto name = name_of_number(i);
    if (kind == value_kind::list) list->push(name, false, -2);
    if (kind == value_kind::hash) hash->set(name, "value", {512, 64});
    if (kind == value_kind::set) set->insert(name, 512);
    if (kind == value_kind::sorted_set) sorted->add(name, i, {128, 64});
  }
  switch (kind) {
    case value_kind::list: return list;
    case value_kind::hash: return hash;
    case value_kind::set: return set;
    default: return sorted;
  }
}

class graveyard_of : public testing::TestWithParam<value_kind> {};

TEST_P(graveyard_of, frees_a_value_bit_by_bit) {
  std::int64_t account = 0;
  const charging scope(account);
  for (const int size : {1, 65, 1000, 50'000}) {
    graveyard graves;
    graves.bury(make_value(GetParam(), size));
    int steps = 0;
    for (; !graves.empty(); ++steps) graves.free_some();
    EXPECT_GE(steps, size / 10'000);
    EXPECT_LE(steps, size);
    EXPECT_EQ(account, 0);
  }
}

TEST_P(graveyard_of, frees_what_is_left_when_it_goes_itself) {
  std::int64_t account = 0;
  const charging scope(account);
  {
    graveyard graves;
    graves.bury(make_value(GetParam(), 20'000));
    graves.free_some();
    EXPECT_FALSE(graves.empty());
    EXPECT_GT(account, 0);
  }
  EXPECT_EQ(account, 0);
}

INSTANTIATE_TEST_SUITE_P(kinds, graveyard_of,
                         testing::Values(value_kind::list, value_kind::set, value_kind::hash,
                                         value_kind::sorted_set),
                         [](const auto& each) { return std::string(name_of(each.param)); });

TEST(graveyard, frees_a_whole_database) {
  std::int64_t account = 0;
  const charging scope(account);
  graveyard graves;
  database data;
  for (int i = 0; i < 20'000; ++i) {
    const auto key = name_of_number(i);
    const auto expiry = i % 3 == 0 ? 1'000'000 : entry::never;
    auto* const made = i % 1000 == 0 ? entry::make(key, make_value(value_kind::hash, 600), expiry)
                                     : entry::make_text(key, "value", expiry);
    data.add(made, hash_of(key));
  }
  graves.bury(std::move(data));
  EXPECT_EQ(data.size(), 0U);
  while (!graves.empty()) graves.free_some();
  EXPECT_EQ(account, 0);
}

}  // namespace
}  // namespace strata::runtime::cache
