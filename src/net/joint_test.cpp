// Two connections that are joined, on every backend.
#include "net/joint.hpp"

#include <gtest/gtest.h>

#include <algorithm>
#include <optional>
#include <string>

#include "net/stream.hpp"
#include "net/testing/backend_stage.hpp"

namespace strata::net {
namespace {

struct byte_count final : joint::observer {
  void on_bytes(bool from_first, byte_span bytes) override {
    (from_first ? of_first : of_second) += bytes.size();
  }
  std::size_t of_first = 0;
  std::size_t of_second = 0;
};

class joint_test : public backend_stage {
 protected:
  void prepare() override {
    left_ = connected_pair();
    right_ = connected_pair();
  }
  void join(joint::settings settings = {}) {
    between_.emplace(*loop_, *left_.server, *right_.server, settings);
    tasks_.spawn(run());
  }

  loop::task<> run() {
    breach_ = co_await between_->run();
    is_over_ = true;
  }

  pair left_;  // its client is a peer; its server is joined
  pair right_;
  std::optional<joint> between_;
  std::unique_ptr<joint::breach> breach_;
  bool is_over_ = false;
  loop::task_group tasks_;
};

TEST_P(joint_test, each_hears_what_the_other_says_to_its_end) {
  join();
  std::string there;
  std::string back;
  bool there_ended = false;
  bool back_ended = false;
  tasks_.spawn(read_all(*right_.client, there, there_ended));
  tasks_.spawn(read_all(*left_.client, back, back_ended));
  const std::string sent(100'000, 'x');
  left_.client->push_copy(as_bytes(sent));
  left_.client->end();
  ASSERT_TRUE(run_until([&] { return there_ended; }));
  EXPECT_EQ(there, sent);
  EXPECT_FALSE(is_over_);
  right_.client->push_copy(as_bytes("answer"));
  right_.client->end();
  ASSERT_TRUE(run_until([&] { return back_ended && is_over_; }));
  EXPECT_EQ(back, "answer");
  EXPECT_FALSE(breach_);
}

TEST_P(joint_test, one_way_ends_with_the_first) {
  byte_count counted;
  join({.is_one_way = true, .observing = &counted});
  std::string there;
  bool there_ended = false;
  tasks_.spawn(read_all(*right_.client, there, there_ended));
  right_.client->push_copy(as_bytes("nobody hears it"));
  left_.client->push_copy(as_bytes("hello"));
  left_.client->end();
  ASSERT_TRUE(run_until([&] { return there_ended && is_over_; }));
  EXPECT_EQ(there, "hello");
  EXPECT_EQ(counted.of_first, 5U);
  EXPECT_EQ(counted.of_second, 0U);
}

TEST_P(joint_test, what_waits_for_a_slow_side_is_bounded) {
  constexpr std::size_t most = 4096;
  constexpr std::size_t one_receive = 1U << 16U;
  join({.most_unsent = most});
  std::size_t largest = 0;
  for (int i = 0; i < 200; ++i) {
    left_.client->push_copy(as_bytes(std::string(50'000, 'x')));
    run_turns(2);
    largest = std::max(largest, right_.server->unsent());
  }
  EXPECT_LE(largest, most + one_receive);
  EXPECT_FALSE(is_over_);
}

INSTANTIATE_TEST_SUITE_P(backends, joint_test, testing::Values("io_uring", "epoll", "simulation"),
                         [](const auto& backend) { return backend.param; });

}  // namespace
}  // namespace strata::net
