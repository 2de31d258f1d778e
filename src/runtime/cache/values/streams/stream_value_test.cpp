#include "runtime/cache/values/streams/stream_value.hpp"

#include <gtest/gtest.h>

#include <algorithm>
#include <array>
#include <map>
#include <random>
#include <string>
#include <vector>

namespace strata::runtime::cache {
namespace {

using words = std::vector<std::string_view>;

void append(stream_value& stream, stream_id id, const words& fields, stream_limits limits = {}) {
  stream.append(id, fields, limits);
}

std::string text_of(const stream_value& stream, bool backwards = false) {
  std::string text;
  stream_cursor cursor(stream, stream_id::lowest(), stream_id::highest(), backwards);
  while (cursor.next()) {
    text += std::string(stream_id_text(cursor.entry().id).view()) + ":";
    cursor.entry().for_each_field([&](std::string_view name, std::string_view value) {
      text += std::string(name) + "=" + std::string(value) + " ";
    });
  }
  return text;
}

stream_value numbered(std::uint64_t entries, std::int64_t most_entries) {
  stream_value stream;
  for (std::uint64_t i = 1; i <= entries; ++i) {
    append(stream, {i, 0}, {"field", "value"}, {0, most_entries});
  }
  return stream;
}

TEST(stream_id, has_neighbours) {
  EXPECT_EQ(stream_id::highest().next(), std::nullopt);
  EXPECT_EQ(stream_id::lowest().previous(), std::nullopt);
  EXPECT_EQ((stream_id{1, UINT64_MAX}.next()), (stream_id{2, 0}));
  EXPECT_EQ((stream_id{2, 0}.previous()), (stream_id{1, UINT64_MAX}));
  EXPECT_EQ(stream_id_text(stream_id::highest()).view(),
            "18446744073709551615-18446744073709551615");
}

TEST(stream_value, keeps_names_and_values_in_order) {
  stream_value stream;
  append(stream, {1, 1}, {"a", "1", "b", "text"});
  append(stream, {1, 2}, {"a", "-5", "b", ""});
  append(stream, {2, 0}, {"other", "x"});
  append(stream, stream_id::highest(), {"a", "9", "b", "9"});
  EXPECT_EQ(text_of(stream),
            "1-1:a=1 b=text 1-2:a=-5 b= 2-0:other=x "
            "18446744073709551615-18446744073709551615:a=9 b=9 ");
  EXPECT_EQ(text_of(stream, true),
            "18446744073709551615-18446744073709551615:a=9 b=9 2-0:other=x 1-2:a=-5 b= "
            "1-1:a=1 b=text ");
  EXPECT_EQ(stream.blocks().size(), 1U);
}

TEST(stream_value, begins_a_block_when_one_is_full) {
  EXPECT_EQ(numbered(101, 100).blocks().size(), 2U);
  EXPECT_EQ(numbered(100, 0).blocks().size(), 1U);
  stream_value stream;
  const std::string large(3000, 'x');
  append(stream, {1, 0}, {"f", large});
  append(stream, {2, 0}, {"f", large});
  EXPECT_EQ(stream.blocks().size(), 2U);
}

TEST(stream_value, counts_intervals) {
  auto stream = numbered(50, 7);
  EXPECT_TRUE(stream.erase({20, 0}));
  EXPECT_FALSE(stream.erase({20, 0}));
  EXPECT_FALSE(stream.erase({99, 0}));
  EXPECT_EQ(stream.count({5, 0}, {30, 0}, UINT64_MAX), 25U);
  EXPECT_EQ(stream.count({5, 0}, {30, 0}, 10), 10U);
  EXPECT_EQ(stream.count({30, 0}, {5, 0}, 10), 0U);
  EXPECT_EQ(stream.count({51, 0}, stream_id::highest(), 10), 0U);
  EXPECT_TRUE(stream.contains({21, 0}));
  EXPECT_FALSE(stream.contains({20, 0}));
}

TEST(stream_value, trims_exactly_and_in_blocks) {
  auto stream = numbered(50, 10);
  EXPECT_EQ(stream.trim({.max_size = 25, .least_id = {}, .is_approximate = true}), 20U);
  EXPECT_EQ(stream.size(), 30U);
  EXPECT_EQ(stream.trim({.max_size = 25, .least_id = {}}), 5U);
  EXPECT_EQ(stream.first_id, (stream_id{26, 0}));
  EXPECT_EQ(stream.trim({.max_size = {}, .least_id = {45, 0}, .is_approximate = true, .limit = 9}),
            5U);
  EXPECT_EQ(stream.trim({.max_size = {}, .least_id = {45, 0}}), 14U);
  EXPECT_EQ(stream.size(), 6U);
  EXPECT_EQ(stream.trim({.max_size = 0, .least_id = {}}), 6U);
  EXPECT_TRUE(stream.blocks().empty());
  EXPECT_EQ(stream.last_id, (stream_id{50, 0}));
}

TEST(stream_value, copies_its_groups) {
  auto stream = numbered(3, 10);
  auto* const group = stream.add_group("g", {2, 0}, 2);
  ASSERT_NE(group, nullptr);
  EXPECT_EQ(stream.add_group("g", {}, 0), nullptr);
  auto& consumer = group->add_consumer("c", 17);
  group->assign(group->add_pending({1, 0}, {nullptr, 5}), consumer);
  const auto copy = stream.clone();
  group->erase_consumer(consumer);
  EXPECT_TRUE(group->pending().empty());
  auto& copied = *static_cast<stream_value&>(*copy).find_group("g");
  ASSERT_EQ(copied.pending().size(), 1U);
  EXPECT_EQ(copied.pending().begin()->second.consumer, copied.find_consumer("c"));
  EXPECT_EQ(copied.find_consumer("c")->name, "c");
}

TEST(stream_value, counts_what_a_group_has_read) {
  auto stream = numbered(10, 100);
  auto& group = *stream.add_group("g", {}, stream_group::unknown);
  EXPECT_EQ(stream.lag(group), 10);
  stream.advance(group, {1, 0});
  EXPECT_EQ(group.entries_read, 1);
  stream.erase({5, 0});
  EXPECT_EQ(stream.lag(group), std::nullopt);
  group.entries_read = stream_group::unknown;
  stream.advance(group, {10, 0});
  EXPECT_EQ(stream.lag(group), 0);
}

// XSETID may set the greatest integer, and more entries follow.
TEST(stream_value, counts_beyond_what_an_integer_holds) {
  auto stream = numbered(2, 100);
  stream.entries_added = static_cast<std::uint64_t>(INT64_MAX) + 1;
  auto& group = *stream.add_group("g", {}, stream_group::unknown);
  EXPECT_EQ(stream.lag(group), 2);
  EXPECT_EQ(stream.entries_up_to({1, 0}), INT64_MAX);
  stream.advance(group, {1, 0});
  stream.advance(group, {2, 0});
  EXPECT_EQ(group.entries_read, INT64_MIN);
}

TEST(stream_block, loads_what_it_dumped) {
  const words fields = {"name", "value"};
  stream_block block({5, 0}, fields);
  block.append({5, 0}, fields);
  block.append({5, 3}, words{"other", "1", "more", "2"});
  block.append({9, 0}, fields);
  block.erase(*block.find({5, 3}));
  const auto dumped = block.dump();
  const auto loaded = stream_block::load({5, 0}, dumped);
  ASSERT_TRUE(loaded.has_value());
  EXPECT_EQ(loaded->dump(), dumped);
  EXPECT_EQ(loaded->size(), 2U);
  EXPECT_EQ(loaded->deleted(), 1U);
}

// Reading continues where it was, and yet finds what a map finds, whatever changed meanwhile.
TEST(stream_value, reads_from_any_id_between_changes) {
  for (unsigned seed = 1; seed <= 20; ++seed) {
    std::mt19937_64 random(seed);
    const stream_limits limits{0, seed % 2 == 0 ? 7 : 300};
    stream_value stream;
    std::map<std::uint64_t, std::string> expected;
    std::uint64_t last = 0;
    for (int step = 0; step < 3000; ++step) {
      const auto number = random() % (last + 2);
      if (random() % 3 == 0) {
        const auto value = std::to_string(random());
        append(stream, {last += 1 + random() % 2, 0}, {"field", value}, limits);
        expected[last] = value;
      } else if (random() % 10 == 0) {
        EXPECT_EQ(stream.erase({number, 0}), expected.erase(number) != 0);
      } else if (random() % 100 == 0) {
        stream.trim({.max_size = expected.size() / 2, .least_id = {}});
        while (expected.size() > stream.size()) expected.erase(expected.begin());
      } else {
        EXPECT_EQ(stream.contains({number, 0}), expected.contains(number)) << seed;
        auto place = expected.lower_bound(number);
        const auto left = static_cast<std::uint64_t>(std::distance(place, expected.end()));
        EXPECT_EQ(stream.count({number, 0}, stream_id::highest(), 5), std::min(left, 5UL)) << seed;
        stream_cursor cursor(stream, {number, 0}, stream_id::highest(), false);
        for (int i = 0; i < 3 && place != expected.end(); ++i, ++place) {
          ASSERT_TRUE(cursor.next()) << seed;
          ASSERT_EQ(cursor.entry().id, (stream_id{place->first, 0})) << seed;
          cursor.entry().for_each_field([&](std::string_view, std::string_view value) {
            EXPECT_EQ(value, place->second) << seed;
          });
        }
        EXPECT_TRUE(place != expected.end() || !cursor.next()) << seed;
      }
    }
  }
}

// Every byte of a dump changed in every way: loading refuses it, or gives a block that can be read.
TEST(stream_block, reads_damaged_blocks_safely) {
  const words fields = {"name", "value"};
  stream_block block({5, 0}, fields);
  block.append({5, 0}, fields);
  block.append({5, 3}, words{"other", "1", "more", "2"});
  block.append({9, 0}, fields);
  const auto dumped = block.dump();
  for (std::size_t at = 0; at < dumped.size(); ++at) {
    for (int value = 0; value < 256; ++value) {
      auto damaged = dumped;
      damaged[at] = static_cast<char>(value);
      const auto loaded = stream_block::load({5, 0}, damaged);
      if (!loaded) continue;
      std::size_t seen = 0;
      for (auto entry = loaded->first(); entry; entry = loaded->next(*entry)) {
        entry->for_each_field([&](std::string_view name, std::string_view text) {
          seen += name.size() + text.size();
        });
      }
      for (auto entry = loaded->last(); entry; entry = loaded->previous(*entry)) ++seen;
      EXPECT_GT(seen, 0U);
    }
  }
}

}  // namespace
}  // namespace strata::runtime::cache
