#include "runtime/proxy/choice/circuit.hpp"

#include <gtest/gtest.h>

#include <atomic>
#include <thread>
#include <vector>

#include "runtime/proxy/choice/standing.hpp"

namespace strata::runtime::proxy {
namespace {

using namespace std::chrono_literals;

constexpr loop::time_point start{1000h};
constexpr circuit_rules by_failures = {.failures = 3, .share = 0, .rest = 5s};
constexpr circuit_rules by_share = {.failures = 0, .share = 50, .rest = 5s};

/// One use: reports whether it opened or closed the circuit.
bool use(circuit& circuit, bool is_good, const circuit_rules& rules, loop::time_point now) {
  return circuit.note(circuit.begin(now), is_good, rules, now);
}

void open(circuit& circuit, loop::time_point now) {
  for (int at = 0; at < 3; ++at) use(circuit, false, by_failures, now);
}

TEST(circuit, failures_in_a_row_open_it) {
  circuit of;
  for (const bool is_good : {false, false, true, false, false}) {
    EXPECT_FALSE(use(of, is_good, by_failures, start));
  }
  EXPECT_EQ(of.state(start), circuit_state::closed);
  EXPECT_TRUE(use(of, false, by_failures, start));
  EXPECT_EQ(of.state(start), circuit_state::open);
  EXPECT_FALSE(of.lets_in(start + 4s));
  EXPECT_TRUE(of.lets_in(start + 5s));
}

TEST(circuit, one_at_a_time_tries_it_and_success_closes_it) {
  circuit of;
  open(of, start);
  const auto later = start + 5s;
  EXPECT_EQ(of.state(later), circuit_state::half_open);
  const auto trial = of.begin(later);
  EXPECT_TRUE(trial.is_trial);
  EXPECT_FALSE(of.lets_in(later));
  of.give_up(trial);
  EXPECT_TRUE(of.lets_in(later));
  EXPECT_TRUE(use(of, true, by_failures, later));
  EXPECT_EQ(of.state(later), circuit_state::closed);
  // Earlier counts are forgotten.
  EXPECT_FALSE(use(of, false, by_failures, later));
}

TEST(circuit, each_failed_trial_doubles_the_pause_up_to_a_minute) {
  circuit of;
  open(of, start);
  auto now = start;
  for (const auto pause : {5s, 10s, 20s, 40s, 60s, 60s}) {
    EXPECT_EQ(of.pause(), pause);
    EXPECT_FALSE(of.lets_in(now + pause - 1s));
    now += pause;
    EXPECT_TRUE(use(of, false, by_failures, now));
  }
  const circuit_rules patient = {.failures = 3, .rest = 300s};
  circuit other;
  for (int at = 0; at < 3; ++at) use(other, false, patient, start);
  EXPECT_TRUE(use(other, false, patient, start + 300s));
  EXPECT_EQ(other.pause(), 300s);
}

TEST(circuit, what_began_before_it_opened_says_nothing) {
  circuit of;
  const auto early = of.begin(start);
  for (int at = 0; at < 3; ++at) use(of, false, by_failures, start);
  EXPECT_FALSE(of.note(early, true, by_failures, start));
  EXPECT_EQ(of.state(start), circuit_state::open);
  // A use that began while it was open: its failure has no effect, its success closes the circuit.
  EXPECT_FALSE(use(of, false, by_failures, start + 1s));
  EXPECT_EQ(of.pause(), 5s);
  EXPECT_TRUE(use(of, true, by_failures, start + 1s));
  EXPECT_EQ(of.state(start + 1s), circuit_state::closed);
}

TEST(circuit, a_share_of_enough_tries_opens_it) {
  circuit of;
  for (int at = 0; at < 19; ++at) EXPECT_FALSE(use(of, at % 2 == 0, by_share, start));
  EXPECT_TRUE(use(of, false, by_share, start));
}

TEST(circuit, tries_of_long_ago_do_not_count) {
  circuit of;
  for (int at = 0; at < 19; ++at) use(of, false, by_share, start);
  EXPECT_FALSE(use(of, false, by_share, start + 10s));
  for (int at = 0; at < 18; ++at) EXPECT_FALSE(use(of, false, by_share, start + 19s));
  EXPECT_TRUE(use(of, false, by_share, start + 19s));
}

TEST(circuit, it_may_be_off) {
  circuit of;
  for (int at = 0; at < 100; ++at) EXPECT_FALSE(use(of, false, {}, start));
  open(of, start);
  of.reset();
  EXPECT_TRUE(of.lets_in(start));
}

/// Runs `work` on several threads at once.
template <class Work>
void on_all_threads(Work work) {
  std::vector<std::thread> all;
  for (int at = 0; at < 4; ++at) all.emplace_back(work);
  for (auto& each : all) each.join();
}

TEST(circuit, of_many_threads_one_opens_it_and_one_tries_it) {
  for (int round = 0; round < 200; ++round) {
    circuit of;
    std::atomic<int> opened = 0;
    std::atomic<int> tried = 0;
    std::atomic<int> closed = 0;
    on_all_threads([&] {
      const auto now = of.begin(start);
      for (int at = 0; at < 3; ++at) opened += of.note(now, false, by_failures, start) ? 1 : 0;
    });
    EXPECT_EQ(opened, 1);
    on_all_threads([&] {
      const auto trial = of.begin(start + 5s);
      tried += trial.is_trial ? 1 : 0;
      if (trial.is_trial) closed += of.note(trial, true, by_failures, start + 5s) ? 1 : 0;
    });
    // Uses after the successful trial find it closed.
    EXPECT_EQ(tried, 1);
    EXPECT_EQ(closed, 1);
  }
}

TEST(circuit, no_try_of_many_threads_is_lost) {
  circuit of;
  const auto use_often = [&of](bool is_good, int times) {
    on_all_threads([&] {
      for (int at = 0; at < times; ++at) use(of, is_good, by_share, start);
    });
  };
  use_often(true, 5000);
  use_often(false, 4000);
  // 16,000 of 36,000 have failed: exactly 4,000 more make it half.
  int more = 1;
  while (!use(of, false, by_share, start)) ++more;
  EXPECT_EQ(more, 4000);
}

TEST(standing, a_limit_holds_for_all_threads_together) {
  constexpr int most = 3;
  standing of;
  std::atomic<int> inside = 0;
  std::atomic<bool> was_too_many = false;
  on_all_threads([&] {
    for (int at = 0; at < 5000; ++at) {
      if (!of.enter(most)) continue;
      if (++inside > most) was_too_many = true;
      --inside;
      of.leave();
    }
  });
  EXPECT_FALSE(was_too_many);
  EXPECT_EQ(of.connections, 0U);
}

}  // namespace
}  // namespace strata::runtime::proxy
