#include "runtime/cache/values/skip_list.hpp"

#include <gtest/gtest.h>

#include <map>
#include <random>
#include <set>
#include <string>

#include "runtime/cache/values/memory.hpp"

namespace strata::runtime::cache {
namespace {

// A list, with a std::set of the same members.
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
    list.insert(nodes[member]);
    expected.emplace(score, member);
  }
  void move(const std::string& member, double score) {
    auto* const node = nodes.at(member);
    expected.erase({node->score(), member});
    expected.emplace(score, member);
    list.move(node, score);
  }
  void remove(const std::string& member) {
    auto* const node = nodes.at(member);
    expected.erase({node->score(), member});
    nodes.erase(member);
    list.erase(node);
  }
  void remove_ranks(std::size_t first, std::size_t count) {
    list.erase(first, count, [this](const scored_member& gone) {
      const std::string member(gone.member());
      EXPECT_EQ(expected.erase({gone.score(), member}), 1U);
      nodes.erase(member);
    });
  }

  void expect_same() const {
    ASSERT_EQ(list.size(), expected.size());
    const scored_member* node = list.first();
    const scored_member* before = nullptr;
    std::size_t rank = 0;
    for (const auto& [score, member] : expected) {
      ASSERT_NE(node, nullptr);
      ASSERT_EQ(node->score(), score);
      ASSERT_EQ(node->member(), member);
      ASSERT_EQ(node->previous(), before);
      ASSERT_EQ(list.rank_of(*node), rank);
      ASSERT_EQ(list.at(rank), node);
      before = node;
      node = node->next();
      ++rank;
    }
    ASSERT_EQ(node, nullptr);
    ASSERT_EQ(list.last(), before);
  }
  void expect_same_seek(double wanted) const {
    const auto found =
        list.seek([&](double score, const scored_member&) { return score < wanted; });
    const auto place = expected.lower_bound({wanted, ""});
    ASSERT_EQ(found.rank, static_cast<std::size_t>(std::distance(expected.begin(), place)));
    if (place == expected.end()) {
      ASSERT_EQ(found.node, nullptr);
    } else {
      ASSERT_EQ(found.node->member(), place->second);
    }
  }

  skip_list list;
  std::map<std::string, scored_member*> nodes;
  std::set<std::pair<double, std::string>> expected;

 private:
  std::mt19937 random_;
};

TEST(skip_list, is_a_sorted_sequence_whatever_is_done_to_it) {
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
      const auto first = both.below(static_cast<std::uint32_t>(both.list.size()));
      const auto left = static_cast<std::uint32_t>(both.list.size()) - first;
      both.remove_ranks(first, both.below(left) + 1);
    }
    if (step % 500 == 0) both.expect_same();
    both.expect_same_seek(both.score());
    if (HasFatalFailure()) return;
  }
  both.expect_same();
}

TEST(skip_list, a_score_that_changes_a_little_keeps_its_place) {
  model both(1);
  for (int i = 0; i < 300; ++i) both.add("m" + std::to_string(i), i);
  for (int i = 0; i < 300; ++i) both.move("m" + std::to_string(i), i + 0.5);
  both.expect_same();
  for (int i = 0; i < 300; ++i) both.expect_same_seek(i + 0.25);
}

TEST(skip_list, members_of_equal_score_are_in_order_of_their_bytes) {
  model both(1);
  for (const auto* const each : {"b", "", "a", "\xff", "ab", "B"}) both.add(each, 1);
  both.add(std::string("a\0b", 3), 1);
  both.expect_same();
}

TEST(skip_list, gives_back_all_its_memory) {
  std::int64_t account = 0;
  {
    const charging charged(account);
    model both(1);
    for (int i = 0; i < 100; ++i) both.add(std::to_string(i), i);
    both.remove_ranks(10, 50);
    both.remove("5");
    EXPECT_GT(account, 49 * 48);
  }
  EXPECT_EQ(account, 0);
}

}  // namespace
}  // namespace strata::runtime::cache
