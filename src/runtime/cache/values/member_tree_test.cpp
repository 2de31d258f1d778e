#include "runtime/cache/values/member_tree.hpp"

#include <gtest/gtest.h>

#include <map>
#include <random>
#include <set>
#include <string>

#include "runtime/cache/values/memory.hpp"

namespace strata::runtime::cache {
namespace {

// A tree, with a std::set of the same members.
class model {
 public:
  explicit model(std::uint32_t seed) : random_(seed) {}

  // Few different scores, so that many are equal, and infinities.
  double score() {
    const auto roll = random_() % 40;
    if (roll == 0) return std::numeric_limits<double>::infinity();
    if (roll == 1) return -std::numeric_limits<double>::infinity();
    return static_cast<double>(roll) / 4;
  }
  std::uint32_t below(std::uint32_t most) { return static_cast<std::uint32_t>(random_() % most); }

  void add(const std::string& member, double score) {
    nodes[member] = scored_member::make(member, score);
    tree.insert(nodes[member]);
    expected.emplace(score, member);
  }
  void move(const std::string& member, double score) {
    auto* const node = nodes.at(member);
    expected.erase({node->score(), member});
    expected.emplace(score, member);
    tree.move(node, score);
  }
  void remove(const std::string& member) {
    auto* const node = nodes.at(member);
    expected.erase({node->score(), member});
    nodes.erase(member);
    tree.erase(node);
  }
  void remove_ranks(std::size_t first, std::size_t count) {
    tree.erase(first, count, [this](const scored_member& gone) {
      const std::string member(gone.member());
      EXPECT_EQ(expected.erase({gone.score(), member}), 1U);
      nodes.erase(member);
    });
  }

  void expect_same() const {
    ASSERT_EQ(tree.size(), expected.size());
    if (expected.empty()) return;
    auto place = tree.at(0);
    std::size_t rank = 0;
    for (const auto& [score, member] : expected) {
      ASSERT_TRUE(place.is_at_member());
      ASSERT_EQ(place->score(), score);
      ASSERT_EQ(place->member(), member);
      ASSERT_EQ(tree.rank_of(*place), rank);
      ASSERT_EQ(&*tree.at(rank), &*place);
      place.next();
      ++rank;
    }
    ASSERT_FALSE(place.is_at_member());
    place = tree.at(rank - 1);
    for (auto each = expected.rbegin(); each != expected.rend(); ++each, place.previous()) {
      ASSERT_EQ(place->member(), each->second);
    }
    ASSERT_FALSE(place.is_at_member());
  }
  void expect_same_seek(double wanted) const {
    const auto found =
        tree.count_before([&](double score, const scored_member&) { return score < wanted; });
    const auto place = expected.lower_bound({wanted, ""});
    ASSERT_EQ(found, static_cast<std::size_t>(std::distance(expected.begin(), place)));
  }

  member_tree tree;
  std::map<std::string, scored_member*> nodes;
  std::set<std::pair<double, std::string>> expected;

 private:
  std::mt19937 random_;
};

TEST(member_tree, is_a_sorted_sequence_whatever_is_done_to_it) {
  const auto seed = std::random_device{}();
  std::printf("seed %u\n", seed);
  model both(seed);
  for (int step = 0; step < 20'000; ++step) {
    const auto member = "m" + std::to_string(both.below(600));
    const auto roll = both.below(100);
    if (!both.nodes.contains(member)) {
      both.add(member, both.score());
    } else if (roll < 50) {
      both.move(member, both.score());
    } else if (roll < 98) {
      both.remove(member);
    } else {
      const auto first = both.below(static_cast<std::uint32_t>(both.tree.size()));
      const auto left = static_cast<std::uint32_t>(both.tree.size()) - first;
      both.remove_ranks(first, both.below(left) + 1);
    }
    if (step % 500 == 0) both.expect_same();
    both.expect_same_seek(both.score());
    if (HasFatalFailure()) return;
  }
  both.expect_same();
}

// Enough members for branches of branches, in any order and in ascending and descending order.
TEST(member_tree, grows_and_shrinks_over_several_levels) {
  for (const int order : {0, 1, 2}) {
    model both(7);
    constexpr int members = 30'000;
    for (int i = 0; i < members; ++i) {
      const auto number = order == 0 ? i * 7919 % members : order == 1 ? i : members - i;
      both.add(std::to_string(number), number / 3);
    }
    both.expect_same();
    for (int i = 0; i < members / 2; ++i) {
      const auto number = order == 0 ? i * 7919 % members : order == 1 ? i : members - i;
      if (i % 3 == 0) both.move(std::to_string(number), number % 100);
      if (i % 3 != 0) both.remove(std::to_string(number));
    }
    both.expect_same();
    while (both.tree.size() > 100) both.remove_ranks(both.tree.size() / 2, 50);
    both.expect_same();
    both.remove_ranks(0, both.tree.size());
    both.expect_same();
    both.add("again", 1);
    both.expect_same();
    if (HasFatalFailure()) return;
  }
}

TEST(member_tree, a_score_that_changes_a_little_keeps_its_place) {
  model both(1);
  for (int i = 0; i < 300; ++i) both.add("m" + std::to_string(i), i);
  for (int i = 0; i < 300; ++i) both.move("m" + std::to_string(i), i + 0.5);
  both.expect_same();
  for (int i = 0; i < 300; ++i) both.expect_same_seek(i + 0.25);
}

TEST(member_tree, members_of_equal_score_are_in_order_of_their_bytes) {
  model both(1);
  for (const auto* const each : {"b", "", "a", "\xff", "ab", "B"}) both.add(each, 1);
  both.add(std::string("a\0b", 3), 1);
  both.expect_same();
}

TEST(member_tree, gives_back_all_its_memory) {
  std::int64_t account = 0;
  {
    const charging charged(account);
    model both(1);
    for (int i = 0; i < 100; ++i) both.add(std::to_string(i), i);
    both.remove_ranks(10, 50);
    both.remove("5");
    EXPECT_GT(account, 49 * 16);
  }
  EXPECT_EQ(account, 0);
}

}  // namespace
}  // namespace strata::runtime::cache
