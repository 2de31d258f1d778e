#include "runtime/cache/engine/execution.hpp"

#include <gtest/gtest.h>

#include <initializer_list>
#include <string>
#include <vector>

#include "runtime/cache/engine/kept_reply.hpp"

namespace strata::runtime::cache {
namespace {

class set_clock final : public engine_clock {
 public:
  std::int64_t now_us = 1'000'000;
  [[nodiscard]] std::int64_t steady_us() const override { return now_us; }
  [[nodiscard]] std::int64_t wall_us() const override { return now_us; }
};

class caller final : public client {
 public:
  explicit caller(engine& engine) : engine_(engine) { engine_.home().enter(*this); }
  ~caller() override { engine_.home().leave(*this); }

  std::string say(std::initializer_list<std::string_view> words) {
    engine_.execute(*this, std::span(words.begin(), words.size()));
    return received();
  }
  std::string received() { return std::string(reply_.take()); }

  [[nodiscard]] proto::reply_writer& reply() override { return reply_; }
  void push(const loop::slice& /*bytes*/) override {}
  void disconnect(bool /*after_reply*/) override {}
  void resume(bool /*has_changed_data*/) override { ++resumed; }

  int resumed = 0;

 private:
  engine& engine_;
  kept_reply reply_;
};

class recorder final : public change_listener {
 public:
  std::vector<std::string> changes;
  void on_change(unsigned /*database*/, std::span<const std::string_view> words) override {
    std::string text;
    for (const auto& each : words) text.append(text.empty() ? "" : " ").append(each);
    changes.push_back(text);
  }
};

using lines = std::vector<std::string>;

struct execution_of : testing::Test {
  set_clock clock;
  engine on{clock};
  recorder log;
  caller one{on};
  caller other{on};

  execution_of() {
    on.keys().set_time(1'000'000);
    on.keys().changes().add_listener(log);
  }
};

TEST_F(execution_of, a_command_is_propagated_if_it_has_changed_something) {
  one.say({"SET", "key", "1"});
  one.say({"GET", "key"});
  one.say({"DEL", "nothing"});
  EXPECT_EQ(log.changes, (lines{"SET key 1"}));
}

TEST_F(execution_of, a_transaction_is_propagated_as_one) {
  one.say({"MULTI"});
  one.say({"SET", "key", "1"});
  one.say({"GET", "key"});
  one.say({"RPUSH", "list", "a"});
  EXPECT_EQ(one.say({"EXEC"}), "*3\r\n+OK\r\n$1\r\n1\r\n:1\r\n");
  one.say({"SET", "key", "2"});
  EXPECT_EQ(log.changes, (lines{"MULTI", "SET key 1", "RPUSH list a", "EXEC", "SET key 2"}));
}

TEST_F(execution_of, a_client_that_a_transaction_serves_is_served_behind_it) {
  EXPECT_EQ(one.say({"BLPOP", "list", "0"}), "");
  ASSERT_TRUE(one.waiting);
  other.say({"MULTI"});
  other.say({"RPUSH", "list", "a"});
  other.say({"SET", "key", "1"});
  other.say({"EXEC"});
  EXPECT_FALSE(one.waiting);
  EXPECT_EQ(one.resumed, 1);
  EXPECT_EQ(one.received(), "*2\r\n$4\r\nlist\r\n$1\r\na\r\n");
  EXPECT_EQ(log.changes, (lines{"MULTI", "RPUSH list a", "SET key 1", "EXEC", "LPOP list"}));
}

TEST_F(execution_of, a_client_that_is_tried_again_in_vain_waits_on) {
  EXPECT_EQ(one.say({"BLPOP", "list", "0"}), "");
  other.say({"MULTI"});
  other.say({"RPUSH", "list", "a"});
  other.say({"LPOP", "list"});
  other.say({"EXEC"});
  EXPECT_TRUE(one.waiting);
  EXPECT_EQ(one.resumed, 0);
}

TEST_F(execution_of, nothing_waits_inside_a_transaction) {
  one.say({"MULTI"});
  one.say({"BLPOP", "list", "0"});
  EXPECT_EQ(one.say({"EXEC"}), "*1\r\n*-1\r\n");
  EXPECT_FALSE(one.waiting);
  EXPECT_EQ(one.say({"BLPOP", "list", "0"}), "");
  EXPECT_TRUE(one.waiting);
}

TEST_F(execution_of, the_time_is_that_of_the_clock) {
  clock.now_us = 5'000'007;
  EXPECT_EQ(one.say({"TIME"}), "*2\r\n$1\r\n5\r\n$1\r\n7\r\n");
}

}  // namespace
}  // namespace strata::runtime::cache
