#include "loop/mailbox.hpp"

#include <gtest/gtest.h>

#include <atomic>
#include <cstdint>
#include <thread>
#include <vector>

namespace strata::loop {
namespace {

TEST(mailbox, runs_messages_in_the_order_of_their_posts) {
  mailbox box;
  std::vector<int> ran;
  for (int number = 0; number < 3; ++number) box.post([&ran, number] { ran.push_back(number); });
  EXPECT_TRUE(box.run());
  EXPECT_EQ(ran, (std::vector{0, 1, 2}));
  EXPECT_FALSE(box.run());
}

TEST(mailbox, its_loop_is_woken_once_and_only_if_it_sleeps) {
  mailbox box;
  EXPECT_FALSE(box.post([] {})) << "the loop is awake";
  EXPECT_FALSE(box.fall_asleep()) << "a message waits";
  box.wake_up();
  EXPECT_TRUE(box.run());
  EXPECT_TRUE(box.fall_asleep());
  EXPECT_TRUE(box.post([] {})) << "the first message for a loop that sleeps";
  EXPECT_FALSE(box.post([] {})) << "it has been woken already";
}

// A loop that sleeps through a message would sleep here for good.
TEST(mailbox, no_message_is_slept_through) {
  mailbox box;
  std::atomic<std::uint32_t> wakes = 0;
  constexpr std::uint64_t count = 200'000;
  std::uint64_t ran = 0;
  std::thread sender([&] {
    for (std::uint64_t number = 0; number < count; ++number) {
      if (!box.post([&ran] { ++ran; })) continue;
      ++wakes;
      wakes.notify_one();
    }
  });
  std::uint32_t seen = 0;
  while (ran < count) {
    box.run();
    if (ran < count && box.fall_asleep()) {
      wakes.wait(seen);
      seen = wakes.load();
    }
    box.wake_up();
  }
  sender.join();
  EXPECT_EQ(ran, count);
}

}  // namespace
}  // namespace strata::loop
