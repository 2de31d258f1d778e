// Tests the lock on a simulated loop: its order, and the destruction of holders and waiters.
#include "loop/async_lock.hpp"

#include <gtest/gtest.h>

#include <chrono>
#include <memory>
#include <string>

#include "loop/backends/sim_loop.hpp"

namespace strata::loop {
namespace {

using namespace std::chrono_literals;

class async_lock_test : public testing::Test {
 protected:
  task<> hold(std::string name, duration length) {
    const auto guard = co_await lock_.acquire();
    trace_ += name;
    co_await loop_.sleep(length);
    trace_ += "/";
  }
  task<> hold_and_yield(std::string name) {
    const auto guard = co_await lock_.acquire();
    trace_ += name;
    co_await loop_.sleep(1ms);
    co_await lock_.let_others();
    trace_ += name;
  }
  void run() { world_.run_for(1s); }

  sim_world world_{1};
  sim_loop& loop_ = world_.add_loop();
  async_lock lock_{loop_};
  std::string trace_;
};

TEST_F(async_lock_test, holders_follow_one_another_in_the_order_of_their_requests) {
  task_group tasks;
  for (const auto* name : {"a", "b", "c"}) tasks.spawn(hold(name, 1ms));
  EXPECT_EQ(trace_, "a");
  run();
  EXPECT_EQ(trace_, "a/b/c/");
  tasks.spawn(hold("d", 1ms));
  EXPECT_EQ(trace_, "a/b/c/d") << "a lock that nobody holds is acquired at once";
  run();
}

TEST_F(async_lock_test, a_waiter_that_is_destroyed_leaves_the_queue) {
  task_group tasks;
  auto gone = std::make_unique<task_group>();
  tasks.spawn(hold("a", 1ms));
  gone->spawn(hold("b", 1ms));
  tasks.spawn(hold("c", 1ms));
  gone.reset();
  run();
  EXPECT_EQ(trace_, "a/c/");
}

TEST_F(async_lock_test, a_holder_that_is_destroyed_passes_the_lock_on_at_the_turn_s_end) {
  task_group tasks;
  auto gone = std::make_unique<task_group>();
  gone->spawn(hold("a", 1h));
  tasks.spawn(hold("b", 1ms));
  gone.reset();
  EXPECT_EQ(trace_, "a") << "nobody runs inside a destructor";
  run();
  EXPECT_EQ(trace_, "ab/");
}

TEST_F(async_lock_test, the_lock_is_free_when_holder_and_waiters_are_destroyed_together) {
  {
    task_group gone;
    gone.spawn(hold("a", 1h));
    gone.spawn(hold("b", 1ms));
  }
  run();
  task_group tasks;
  tasks.spawn(hold("c", 1ms));
  run();
  EXPECT_EQ(trace_, "ac/");
}

TEST_F(async_lock_test, a_holder_lets_those_that_wait_go_first) {
  task_group tasks;
  tasks.spawn(hold_and_yield("y"));
  tasks.spawn(hold("b", 1ms));
  run();
  EXPECT_EQ(trace_, "yb/y");
}

TEST_F(async_lock_test, a_lock_may_be_destroyed_before_the_next_holder_runs) {
  auto lock = std::make_unique<async_lock>(loop_);
  {
    task_group gone;
    const auto acquire = [](async_lock& subject, sim_loop& loop) -> task<> {
      const auto guard = co_await subject.acquire();
      co_await loop.sleep(1h);
    };
    gone.spawn(acquire(*lock, loop_));
    gone.spawn(acquire(*lock, loop_));
  }
  lock.reset();
  run();
}

}  // namespace
}  // namespace strata::loop
