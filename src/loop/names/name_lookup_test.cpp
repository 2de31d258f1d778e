#include "loop/names/name_lookup.hpp"

#include <gtest/gtest.h>

#include <atomic>
#include <chrono>
#include <deque>
#include <thread>

namespace strata::loop {
namespace {

using namespace std::chrono_literals;

constexpr auto plain = name_lookup::depth::addresses;

void wait_until(const std::atomic<int>& counted, int wanted) {
  while (counted < wanted) std::this_thread::sleep_for(1ms);
}

TEST(name_lookup, all_that_ask_for_the_same_are_answered) {
  std::atomic<int> answered = 0;
  std::atomic<int> found = 0;
  std::deque<name_lookup> asking(200);
  for (auto& each : asking) {
    const auto started = each.start("localhost", plain, [&](const found_host& addresses) {
      if (addresses && !addresses->addresses.empty()) ++found;
      ++answered;
    });
    ASSERT_TRUE(started) << describe(started.error());
  }
  wait_until(answered, 200);
  EXPECT_EQ(found, 200);
}

TEST(name_lookup, one_that_was_given_up_is_not_answered) {
  std::atomic<int> others = 0;
  for (int round = 0; round < 200; ++round) {
    const auto given_up = std::make_shared<std::atomic<bool>>(false);
    {
      name_lookup short_lived;
      ASSERT_TRUE(short_lived.start("localhost", plain, [given_up](const found_host&) {
        EXPECT_FALSE(*given_up) << "it was answered after its end";
      }));
      if (round % 2 == 0) std::this_thread::yield();
    }
    *given_up = true;
  }
  name_lookup last;
  ASSERT_TRUE(last.start("localhost", plain, [&](const found_host&) { ++others; }));
  wait_until(others, 1);
}

TEST(name_lookup, names_beyond_the_threads_wait_and_are_found) {
  std::atomic<int> answered = 0;
  std::deque<name_lookup> asking(4 * most_lookup_threads);
  for (std::size_t i = 0; i < asking.size(); ++i) {
    const auto host = "127.0.0." + std::to_string(1 + i);
    const auto port_less = [&, host](const found_host& found) {
      EXPECT_TRUE(found && found->addresses.front().text().starts_with(host));
      ++answered;
    };
    ASSERT_TRUE(asking[i].start(host, plain, port_less));
  }
  wait_until(answered, static_cast<int>(asking.size()));
}

}  // namespace
}  // namespace strata::loop
