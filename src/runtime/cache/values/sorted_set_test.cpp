#include "runtime/cache/values/sorted_set.hpp"

#include <gtest/gtest.h>

#include <cmath>
#include <map>
#include <random>
#include <set>
#include <string>
#include <vector>

namespace strata::runtime::cache {
namespace {

using pairs = std::vector<std::pair<double, std::string>>;

pairs all_of(const sorted_set& set, bool reversed = false) {
  pairs seen;
  set.visit({0, set.size()}, reversed,
            [&](std::string_view member, double score) { seen.emplace_back(score, member); });
  return seen;
}

// A sorted set, with a std::map and a std::set of the same members.
class model {
 public:
  model(std::uint32_t seed, const sorted_set_limits& limits) : random_(seed), limits_(limits) {}

  double score() {
    constexpr double infinity = std::numeric_limits<double>::infinity();
    static const std::vector<double> some = {0,    1,    -1,    1.5,       0.1,   1e17,
                                             1e20, 1e-5, 1e300, -infinity, 4e18,  infinity,
                                             -3,   127,  128,   4095,      -4097, 1 << 24};
    return some[random_() % some.size()];
  }
  // Some are integers, which packs store differently.
  std::string member() {
    const auto number = random_() % 200;
    return (number % 2 == 0 ? "m" : "") + std::to_string(number);
  }
  std::uint32_t below(std::size_t most) { return static_cast<std::uint32_t>(random_() % most); }

  void step() {
    const auto name = member();
    const auto roll = below(100);
    if (roll < 60) {
      put(name, score());
    } else if (roll < 98 || set.size() == 0) {
      EXPECT_EQ(set.erase(name), scores.erase(name) == 1);
    } else {
      erase_ranks();
    }
  }
  void put(const std::string& name, double score) {
    const auto where = set.find(name);
    EXPECT_EQ(where.is_there(), scores.contains(name));
    set.put(where, name, score, limits_);
    scores[name] = score;
  }
  void erase_ranks() {
    const auto first = below(set.size());
    const auto count = below(std::min<std::size_t>(set.size() - first, 5)) + 1;
    const auto before = expected();
    for (auto i = first; i < first + count; ++i) scores.erase(before[i].second);
    set.erase_ranks({first, count});
  }

  [[nodiscard]] pairs expected() const {
    pairs made;
    for (const auto& [member, score] : scores) made.emplace_back(score, member);
    std::ranges::sort(made);
    return made;
  }
  void expect_same() {
    const auto wanted = expected();
    ASSERT_EQ(set.size(), wanted.size());
    ASSERT_EQ(all_of(set), wanted);
    ASSERT_EQ(all_of(set, true), pairs(wanted.rbegin(), wanted.rend()));
    for (std::size_t i = 0; i < wanted.size(); ++i) {
      ASSERT_EQ(set.rank_of(wanted[i].second), i);
      ASSERT_EQ(set.score_of(wanted[i].second), wanted[i].first);
    }
    ASSERT_FALSE(set.score_of("nobody"));
    ASSERT_FALSE(set.rank_of("nobody"));
    ASSERT_EQ(all_of(static_cast<const sorted_set&>(*set.clone())), wanted);
    expect_same_range(wanted);
  }
  void expect_same_range(const pairs& all) {
    const score_range range = {score(), score(), below(2) == 0, below(2) == 0};
    const auto ranks = set.ranks_of(range);
    std::size_t count = 0;
    for (std::size_t i = 0; i < all.size(); ++i) {
      const auto score = all[i].first;
      if (range.is_below(score) || range.is_above(score)) continue;
      ASSERT_GE(i, ranks.first);
      ASSERT_LT(i, ranks.first + ranks.count);
      ++count;
    }
    ASSERT_EQ(ranks.count, count);
  }

  sorted_set set;
  std::map<std::string, double> scores;

 private:
  std::mt19937 random_;
  sorted_set_limits limits_;
};

void run_model(const sorted_set_limits& limits) {
  const auto seed = std::random_device{}();
  std::printf("seed %u\n", seed);
  model both(seed, limits);
  for (int step = 0; step < 5'000; ++step) {
    both.step();
    if (step % 20 == 0) both.expect_same();
    if (::testing::Test::HasFailure()) return;
  }
}

TEST(sorted_set, small_is_as_a_model_has_it) { run_model({1000, 64}); }
TEST(sorted_set, large_is_as_a_model_has_it) { run_model({0, 64}); }
TEST(sorted_set, growing_is_as_a_model_has_it) { run_model({100, 64}); }

void fill(sorted_set& set, int count, const sorted_set_limits& limits) {
  for (int i = 0; i < count; ++i) set.add("m" + std::to_string(i), i, limits);
}

TEST(sorted_set, is_small_up_to_the_limits) {
  const sorted_set_limits limits = {10, 8};
  sorted_set set;
  fill(set, 10, limits);
  EXPECT_EQ(set.encoding(), "listpack");
  set.add("one more", 1, limits);
  EXPECT_EQ(set.encoding(), "skiplist");
  sorted_set with_long;
  with_long.add("12345678", 1, limits);
  EXPECT_EQ(with_long.encoding(), "listpack");
  with_long.add("123456789", 1, limits);
  EXPECT_EQ(with_long.encoding(), "skiplist");
}

TEST(sorted_set, becomes_small_again_only_when_asked) {
  const sorted_set_limits limits = {10, 8};
  sorted_set set;
  fill(set, 20, limits);
  set.fit(limits);
  EXPECT_EQ(set.encoding(), "skiplist");
  set.erase_ranks({5, 15});
  EXPECT_EQ(set.encoding(), "skiplist");
  const auto before = all_of(set);
  set.fit(limits);
  EXPECT_EQ(set.encoding(), "listpack");
  EXPECT_EQ(all_of(set), before);
  set.add("x", 1, {0, 8});
  set.fit({10, 1});
  EXPECT_EQ(set.encoding(), "skiplist") << "m0 is too long";
}

TEST(sorted_set, ranges_of_members_have_open_and_closed_ends) {
  using enum lex_bound::kind;
  for (const std::int64_t most : {0, 100}) {
    sorted_set set;
    for (const auto* const each : {"a", "b", "c", "d"}) set.add(each, 0, {most, 64});
    const auto ranks = [&](const lex_range& range) {
      const auto found = set.ranks_of(range);
      return std::pair(found.count == 0 ? 0 : found.first, found.count);
    };
    EXPECT_EQ(ranks({{least, {}}, {lex_bound::kind::most, {}}}), std::pair(0UL, 4UL));
    EXPECT_EQ(ranks({{member, "b"}, {member, "c"}}), std::pair(1UL, 2UL));
    EXPECT_EQ(ranks({{beside_member, "b"}, {beside_member, "d"}}), std::pair(2UL, 1UL));
    EXPECT_EQ(ranks({{member, "bb"}, {lex_bound::kind::most, {}}}), std::pair(2UL, 2UL));
    EXPECT_EQ(ranks({{member, "c"}, {member, "b"}}).second, 0UL);
    EXPECT_EQ(ranks({{lex_bound::kind::most, {}}, {least, {}}}).second, 0UL);
  }
}

TEST(sorted_set, scores_in_a_pack_are_kept_as_redis_keeps_them) {
  sorted_set set;
  const sorted_set_limits limits = {100, 64};
  for (const double score : {-0.0, 1.5, 0.1, 1e17, 1e20, 0x1p62}) {
    set.add("m" + std::to_string(set.size()), score, limits);
  }
  std::vector<std::string> kept;
  const auto& packed = set.packed();
  for (std::int64_t i = 1; i < 12; i += 2) kept.emplace_back(packed.at(packed.seek(i)).text());
  EXPECT_EQ(kept, (std::vector<std::string>{"0", "0.10000000000000001", "1.5", "100000000000000000",
                                            "4611686018427387904", "1e+20"}));
}

TEST(sorted_set, a_visit_of_chosen_members_stays_within_the_scores) {
  for (const int count : {50, 2000}) {
    sorted_set set;
    fill(set, count, {128, 64});
    std::vector<std::string> seen;
    const auto visit = [&](score_range scores, std::size_t limit) {
      seen.clear();
      set.visit_chosen(
          scores, [](double score) { return std::fmod(score, 7) == 0; },
          [&](std::string_view member, double) {
            seen.emplace_back(member);
            return seen.size() != limit;
          });
      return seen;
    };
    using members = std::vector<std::string>;
    EXPECT_EQ(visit({7, 28, false, false}, 0), (members{"m7", "m14", "m21", "m28"}));
    EXPECT_EQ(visit({7, 28, true, true}, 0), (members{"m14", "m21"}));
    EXPECT_EQ(visit({-5, 1e9, false, false}, 2), (members{"m0", "m7"}));
    EXPECT_EQ(visit({1e9, 2e9, false, false}, 0), members{});
    // From every score on: so a visit begins at each place of each node.
    for (int from = 0; from < count; ++from) {
      int next = from;
      set.visit_chosen(
          {static_cast<double>(from), 1e9, false, false}, [](double) { return true; },
          [&](std::string_view, double score) { return score == next++; });
      EXPECT_EQ(next, count);
    }
  }
}

TEST(sorted_set, a_scan_visits_all) {
  for (const int count : {50, 2000}) {
    sorted_set set;
    fill(set, count, {128, 64});
    std::map<std::string, double> seen;
    std::uint64_t cursor = 0;
    do {
      cursor = set.scan(
          cursor, [&](std::string_view member, double score) { seen.emplace(member, score); });
    } while (cursor != 0);
    EXPECT_EQ(seen.size(), static_cast<std::size_t>(count));
    EXPECT_EQ(seen.at("m7"), 7);
  }
}

TEST(sorted_set, gives_back_all_its_memory) {
  std::int64_t account = 0;
  {
    const charging charged(account);
    sorted_set set;
    fill(set, 1000, {128, 64});
    EXPECT_NEAR(static_cast<double>(account), static_cast<double>(set.memory()), 1500);
    set.erase_ranks({0, 900});
    const auto copy = set.clone();
    set.fit({128, 64});
  }
  EXPECT_EQ(account, 0);
}

}  // namespace
}  // namespace strata::runtime::cache
