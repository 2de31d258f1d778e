#include "loop/backends/buffer_queue.hpp"

#include <gtest/gtest.h>

#include <memory>

namespace strata::loop {
namespace {

constexpr std::size_t whole = 4096;

/// Adds `count` waiting streams, of which the first `bulk` have filled their buffers.
class buffer_queue_test : public testing::Test {
 protected:
  void wait(int count, int bulk) {
    for (int at = 0; at < count; ++at) {
      queue_.note_received(at, at < bulk ? whole : 10, whole);
      all_.push_back(std::make_unique<buffer_seeker>(at));
      queue_.enter(*all_.back());
    }
  }
  std::vector<int> served(std::uint32_t buffers) {
    std::vector<int> got;
    queue_.serve(buffers, [&got](buffer_seeker& one) { got.push_back(one.descriptor); });
    return got;
  }

  buffer_queue queue_;
  std::vector<std::unique_ptr<buffer_seeker>> all_;
};

TEST_F(buffer_queue_test, no_more_are_served_than_there_are_buffers) {
  wait(5, 0);
  EXPECT_EQ(served(2), (std::vector{0, 1}));
  EXPECT_EQ(served(0), (std::vector<int>{}));
  EXPECT_EQ(served(9), (std::vector{2, 3, 4}));
  EXPECT_TRUE(queue_.is_empty());
}

TEST_F(buffer_queue_test, those_that_want_little_do_not_wait_for_those_that_want_much) {
  wait(12, 10);
  EXPECT_EQ(served(4), (std::vector{10, 11, 0, 1}));
  EXPECT_EQ(served(4), (std::vector{2, 3}));
}

TEST_F(buffer_queue_test, bulk_goes_on_while_others_come) {
  wait(12, 2);
  EXPECT_EQ(served(1), (std::vector{0}));
  EXPECT_EQ(served(4), (std::vector{2, 3, 1}));
}

// Each of a flood of new connections may have a bufferful to receive.
TEST_F(buffer_queue_test, those_that_want_little_do_not_wait_for_those_that_have_only_come) {
  for (int at = 100; at < 110; ++at) {
    all_.push_back(std::make_unique<buffer_seeker>(at));
    queue_.enter(*all_.back());
  }
  buffer_seeker talker(50);
  queue_.note_received(50, 10, whole);
  EXPECT_FALSE(queue_.must_enter(talker));
  queue_.enter(talker);
  EXPECT_EQ(served(4), (std::vector{50, 100, 101}));
}

TEST_F(buffer_queue_test, neither_bulk_nor_new_ones_wait_for_ever_for_the_other) {
  wait(3, 3);
  for (int at = 100; at < 103; ++at) {
    all_.push_back(std::make_unique<buffer_seeker>(at));
    queue_.enter(*all_.back());
  }
  std::vector<int> got;
  for (int i = 0; i < 6; ++i) {
    for (const int each : served(1)) got.push_back(each);
  }
  EXPECT_EQ(got, (std::vector{0, 100, 1, 101, 2, 102}));
}

TEST_F(buffer_queue_test, fewer_have_their_turn_at_a_time_when_each_gives_much_to_do) {
  using namespace std::chrono_literals;
  wait(300, 300);
  EXPECT_EQ(served(128).size(), 32U);
  for (int i = 0; i < 3; ++i) queue_.note_turn(30ms);
  EXPECT_EQ(served(128).size(), 4U);
  for (int i = 0; i < 10; ++i) queue_.note_turn(1s);
  EXPECT_EQ(served(128).size(), 1U);
  for (int i = 0; i < 100; ++i) queue_.note_turn(1ms);
  EXPECT_EQ(served(128).size(), 32U);
}

TEST_F(buffer_queue_test, one_takes_many_until_buffers_are_scarce) {
  const buffer_seeker fresh(20);
  buffer_seeker greedy(21);
  queue_.note_received(21, whole, whole);
  EXPECT_TRUE(queue_.may_take_many(greedy));
  EXPECT_FALSE(queue_.must_enter(greedy));
  wait(4, 4);
  queue_.note_turn();
  EXPECT_FALSE(queue_.may_take_many(greedy));
  EXPECT_FALSE(queue_.may_take_many(fresh));
  EXPECT_TRUE(queue_.must_enter(greedy));
  EXPECT_FALSE(queue_.must_enter(fresh));
  queue_.note_received(21, 1, whole);
  EXPECT_TRUE(queue_.may_take_many(greedy));
  queue_.forget(21);
  EXPECT_FALSE(queue_.may_take_many(greedy));
}

TEST_F(buffer_queue_test, one_that_is_gone_is_not_served) {
  wait(3, 0);
  all_[1].reset();
  EXPECT_EQ(served(9), (std::vector{0, 2}));
}

}  // namespace
}  // namespace strata::loop
