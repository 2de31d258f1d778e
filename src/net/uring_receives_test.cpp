// The cost of receiving on an io_uring loop, in requests to its ring: the kernel counts them.
#include <fcntl.h>
#include <gtest/gtest.h>
#include <sys/socket.h>
#include <unistd.h>

#include <array>
#include <filesystem>
#include <fstream>

#include "loop/loop.hpp"
#include "net/testing/backend_stage.hpp"
#include "strata/base/unique_fd.hpp"

namespace strata::net {
namespace {

class uring_receives : public backend_stage {};

// The entries given to the rings of this process so far; see io_uring's fdinfo.
std::uint64_t entries_given() {
  std::uint64_t sum = 0;
  for (const auto& each : std::filesystem::directory_iterator("/proc/self/fd")) {
    std::error_code gone;
    const auto target = std::filesystem::read_symlink(each.path(), gone).string();
    if (gone || !target.contains("io_uring")) continue;
    std::ifstream about("/proc/self/fdinfo/" + each.path().filename().string());
    for (std::string word; about >> word;) {
      std::uint64_t count = 0;
      if (word == "SqTail:" && about >> count) sum += count;
    }
  }
  return sum;
}

struct raw_pair {
  unique_fd peer;
  std::unique_ptr<stream> wire;
};

raw_pair make_pair(loop::loop& loop) {
  std::array<int, 2> ends{};
  EXPECT_EQ(::socketpair(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC | SOCK_NONBLOCK, 0, ends.data()), 0);
  return {unique_fd(ends[0]), stream::over(loop, loop.adopt(ends[1]))};
}

// Each piece arrives while the reader is busy with the previous one.
loop::task<> read_slowly(loop::loop& loop, raw_pair& from, int pieces, bool& done) {
  for (int i = 0; i < pieces; ++i) {
    EXPECT_EQ(::write(from.peer.get(), "piece", 5), 5);
    co_await loop.sleep(std::chrono::milliseconds(1));
    const auto got = co_await from.wire->receive();
    EXPECT_TRUE(got && !got->empty());
  }
  done = true;
}

// A receive and a poll for the end, both made and cancelled for each piece, would be four requests.
TEST_P(uring_receives, a_slow_reader_costs_one_request_a_piece) {
  constexpr int pieces = 200;
  auto ends = make_pair(*loop_);
  bool done = false;
  loop::task_group tasks;
  run_turns(1);
  const auto before = entries_given();
  ASSERT_NE(before, 0U);
  tasks.spawn(read_slowly(*loop_, ends, pieces, done));
  ASSERT_TRUE(run_until([&] { return done; }));
  EXPECT_LE(entries_given() - before, pieces + pieces / 2);
}

TEST_P(uring_receives, the_end_is_seen_however_slow_the_reader_was) {
  auto ends = make_pair(*loop_);
  bool done = false;
  loop::task_group tasks;
  tasks.spawn(read_slowly(*loop_, ends, 20, done));
  ASSERT_TRUE(run_until([&] { return done; }));
  std::string rest;
  bool ended = false;
  tasks.spawn(read_all(*ends.wire, rest, ended));
  run_turns(3);
  EXPECT_EQ(::write(ends.peer.get(), "rest", 4), 4);
  ends.peer.reset();
  ASSERT_TRUE(run_until([&] { return ended; }));
  EXPECT_EQ(rest, "rest");
}

// Results that one stream leaves in the kernel do not reach the next stream of the same descriptor.
TEST_P(uring_receives, a_descriptor_that_is_used_again_has_an_end_of_its_own) {
  for (int i = 0; i < 50; ++i) {
    auto ends = make_pair(*loop_);
    bool done = false;
    loop::task_group tasks;
    tasks.spawn(read_slowly(*loop_, ends, 2, done));
    ASSERT_TRUE(run_until([&] { return done; }));
    if (i % 2 == 0) ends.peer.reset();
    std::string rest;
    bool ended = false;
    tasks.spawn(read_all(*ends.wire, rest, ended));
    if (i % 2 == 0) {
      EXPECT_TRUE(run_until([&] { return ended; }));
    } else {
      run_turns(3);
      EXPECT_FALSE(ended);
    }
    tasks.cancel();
  }
}

INSTANTIATE_TEST_SUITE_P(backends, uring_receives, testing::Values("io_uring"),
                         [](const auto& each) { return each.param; });

}  // namespace
}  // namespace strata::net
