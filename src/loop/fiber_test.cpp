#include "loop/fiber.hpp"

#include <gtest/gtest.h>

#include <string>

namespace strata::loop {
namespace {

TEST(fiber, a_function_that_is_not_interrupted_ends_at_once) {
  fiber stack;
  std::string done;
  EXPECT_TRUE(stack.run([&] {
    EXPECT_TRUE(stack.is_inside());
    done += "first";
  }));
  EXPECT_TRUE(stack.run([&] { done += " second"; }));
  EXPECT_EQ(done, "first second");
  EXPECT_FALSE(stack.is_inside());
  EXPECT_FALSE(stack.is_interrupted());
}

TEST(fiber, an_interrupted_function_continues_where_it_was) {
  fiber stack;
  std::string done;
  EXPECT_FALSE(stack.run([&] {
    for (const std::string part : {"a", "b", "c"}) {
      done += part;
      stack.interrupt();
    }
  }));
  EXPECT_TRUE(stack.is_interrupted());
  done += "|";
  EXPECT_FALSE(stack.resume());
  done += "|";
  EXPECT_FALSE(stack.resume());
  EXPECT_TRUE(stack.resume());
  EXPECT_EQ(done, "a|b|c");
  EXPECT_FALSE(stack.is_interrupted());
}

TEST(fiber, fibers_interrupt_independently) {
  fiber first;
  fiber second;
  std::string done;
  EXPECT_FALSE(first.run([&] {
    done += "1";
    EXPECT_FALSE(second.run([&] {
      done += "2";
      second.interrupt();
      done += "4";
    }));
    first.interrupt();
    done += "3";
  }));
  EXPECT_TRUE(first.resume());
  EXPECT_TRUE(second.resume());
  EXPECT_EQ(done, "1234");
}

// Deep calls: it is a stack as a thread has it.
int depth(int left) {
  volatile char room[1024] = {};
  return left == 0 ? room[0] : depth(left - 1) + 1 + room[left % 1024];
}

TEST(fiber, there_is_room_for_deep_calls) {
  fiber stack;
  int found = 0;
  EXPECT_TRUE(stack.run([&] { found = depth(2000); }));
  EXPECT_EQ(found, 2000);
}

}  // namespace
}  // namespace strata::loop
