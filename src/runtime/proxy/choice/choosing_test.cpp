#include "runtime/proxy/choice/choosing.hpp"

#include <gtest/gtest.h>

#include <map>

namespace strata::runtime::proxy {
namespace {

using namespace std::chrono_literals;

// Later than the clock's epoch, so that past times exist.
constexpr loop::time_point start{1000h};

std::vector<backend_ref> backends_of(const std::vector<std::string>& texts) {
  std::vector<backend_ref> all;
  for (const auto& each : texts) {
    all.push_back(std::make_shared<backend>(*parse_backend(each)));
  }
  return all;
}

/// How often each place is chosen in `turns`.
std::map<std::string, int> counted(const std::vector<backend_ref>& all, wish wish, int turns) {
  std::map<std::string, int> chosen;
  for (int turn = 0; turn < turns; ++turn) {
    wish.key = static_cast<std::uint64_t>(turn) * 7919;
    const auto found = candidates_of(all, wish);
    if (!found.of.empty()) ++chosen[choose(found.of, wish)->is.url.host];
  }
  return chosen;
}

TEST(choosing, full_ones_are_passed_over_and_awaited) {
  const auto all = backends_of({"a:1 max=1", "b:1 max=2", "c:1 backup"});
  const wish what{.now = start};
  all[0]->stands->connections = 1;
  EXPECT_EQ(counted(all, what, 4), (std::map<std::string, int>{{"b", 4}}));
  all[1]->stands->connections = 2;
  EXPECT_EQ(counted(all, what, 4), (std::map<std::string, int>{{"c", 4}}));
  all[2]->is.is_drained = true;
  EXPECT_TRUE(candidates_of(all, what).of.empty());
  EXPECT_TRUE(candidates_of(all, what).are_full);
  EXPECT_FALSE(candidates_of(all, {.tried = all, .now = start}).are_full);
}

TEST(choosing, one_that_is_ill_is_no_way_out_of_a_queue) {
  const auto all = backends_of({"a:1 max=1", "b:1"});
  all[0]->stands->connections = 1;
  all[1]->stands->is_down = true;
  EXPECT_TRUE(candidates_of(all, {.now = start}).are_full);
  all[0]->stands->rests_until = start + 1s;
  EXPECT_EQ(counted(all, {.now = start}, 3), (std::map<std::string, int>{{"b", 3}}));
  all[1]->stands->is_down = false;
  EXPECT_FALSE(candidates_of(all, {.now = start}).are_full);
}

TEST(choosing, one_that_came_grows_into_its_weight) {
  const auto all = backends_of({"a:1 weight=2", "b:1 weight=2"});
  wish what{.now = start, .slow_start = 90s};
  EXPECT_EQ(weight_of(*all[1], what), 200U);
  all[1]->stands->came = start;
  EXPECT_EQ(weight_of(*all[1], what), 20U);
  // It is added only after its rest.
  all[1]->stands->came = start + 5s;
  EXPECT_EQ(weight_of(*all[1], what), 20U);
  all[1]->stands->came = start;
  what.now = start + 45s;
  EXPECT_EQ(weight_of(*all[1], what), 110U);
  what.now = start + 90s;
  EXPECT_EQ(weight_of(*all[1], what), 200U);
  what.now = start;
  what.slow_start = 0s;
  EXPECT_EQ(weight_of(*all[1], what), 200U);
}

TEST(choosing, one_that_came_by_the_clock_of_a_loop_ahead_has_its_weight) {
  const auto all = backends_of({"a:1 weight=2", "b:1 weight=2"});
  all[1]->stands->came = start + 5s;
  EXPECT_EQ(weight_of(*all[1], {.now = start}), 200U);
  for (const auto how : {balance::round_robin, balance::random, balance::least}) {
    EXPECT_GT(counted(all, {.how = how, .now = start}, 100)["b"], 0) << static_cast<int>(how);
  }
}

TEST(choosing, all_balances_with_weights_start_slowly) {
  for (const auto how : {balance::round_robin, balance::random, balance::source}) {
    const auto all = backends_of({"a:1", "b:1"});
    all[1]->stands->came = start;
    const auto seen = counted(all, {.how = how, .now = start, .slow_start = 100s}, 11'000);
    EXPECT_NEAR(seen.at("b"), 1000, 150) << static_cast<int>(how);
  }
}

TEST(choosing, when_a_backend_goes_only_its_own_move) {
  const auto all = backends_of({"a:1", "b:1", "c:1"});
  const auto at = [&all](std::uint64_t key) {
    const wish what{.how = balance::header, .key = key, .now = start};
    return choose(candidates_of(all, what).of, what);
  };
  std::map<std::uint64_t, backend_ref> before;
  for (std::uint64_t key = 0; key < 300; ++key) before[key] = at(key);
  all[1]->is.is_drained = true;
  int moved = 0;
  for (const auto& [key, was] : before) {
    const bool has_moved = at(key) != was;
    EXPECT_EQ(has_moved, was == all[1]);
    moved += has_moved ? 1 : 0;
  }
  EXPECT_NEAR(moved, 100, 40);
  // A backend's mark does not depend on its weight or limit.
  EXPECT_EQ(mark_of(*parse_backend("a:1 weight=3 max=2 drain")), all[0]->mark);
}

TEST(choosing, a_hash_piles_up_no_more_than_a_share) {
  const auto all = backends_of({"a:1", "b:1 weight=2", "c:1"});
  const wish what{.how = balance::source, .key = 1, .now = start};
  for (int at = 0; at < 4000; ++at)
    ++choose(candidates_of(all, what).of, what)->stands->connections;
  for (const auto& each : all) {
    EXPECT_LE(each->connections(), 1250 * each->is.weight + 2) << each->is.text;
    EXPECT_GE(each->connections(), 250U) << each->is.text;
  }
}

TEST(choosing, few_are_no_pile_and_a_limit_is_the_limit) {
  auto all = backends_of({"a:1", "b:1"});
  const wish what{.how = balance::source, .key = 3, .now = start};
  const auto home = choose(candidates_of(all, what).of, what);
  home->stands->connections = 15;
  EXPECT_EQ(choose(candidates_of(all, what).of, what), home);
  home->stands->connections = 16;
  EXPECT_NE(choose(candidates_of(all, what).of, what), home);
  home->is.max = 100;
  EXPECT_EQ(choose(candidates_of(all, what).of, what), home);
}

TEST(choosing, a_mark_leads_back_while_the_backend_is_up) {
  const auto all = backends_of({"a:1", "b:1 max=1", "c:1"});
  const std::vector<std::uint64_t> marks = {17, all[1]->mark};
  wish what{.how = balance::first, .marks = marks, .now = start};
  EXPECT_EQ(candidates_of(all, what).of, std::vector{all[1]});
  all[1]->stands->connections = 1;
  EXPECT_TRUE(candidates_of(all, what).are_full);
  all[1]->stands->is_down = true;
  EXPECT_EQ(choose(candidates_of(all, what).of, what), all[0]);
  all[1]->stands->is_down = false;
  what.tried = std::span(&all[1], 1);
  EXPECT_EQ(choose(candidates_of(all, what).of, what), all[0]);
}

TEST(choosing, balances_are_read) {
  EXPECT_EQ(parse_balance("least")->how, balance::least);
  EXPECT_EQ(parse_balance("header:X-Tenant")->name, "x-tenant");
  EXPECT_EQ(parse_balance("cookie:Id")->name, "Id");
  for (const auto* const wrong :
       {"", "header", "header:", "cookie:a b", "cookie:a=b", "LEAST", "path:/x", "header:\xff"}) {
    EXPECT_FALSE(parse_balance(wrong)) << wrong;
  }
}

}  // namespace
}  // namespace strata::runtime::proxy
