// Connecting to what a URL names, in a world where addresses may not answer.
#include "net/connector.hpp"

#include <gtest/gtest.h>

#include <cerrno>

#include "loop/backends/sim_loop.hpp"

namespace strata::net {
namespace {

using namespace std::chrono_literals;

class connector_test : public testing::Test {
 protected:
  void SetUp() override {
    auto listening = loop_.listen(*loop::socket_address::from_ip("127.0.0.1", 7000), {});
    ASSERT_TRUE(listening);
    listener_ = std::make_unique<listener>(loop_, std::move(*listening));
    accepting_.spawn(accept_all());
  }

  /// The result of the attempt, and how long it took in seconds.
  std::pair<result<connection>, double> attempt(const std::string& url, loop::duration timeout,
                                                directory* names = nullptr) {
    std::optional<result<connection>> made;
    const auto run = [&]() -> loop::task<> {
      connecting how{.timeout = timeout, .names = names};
      auto got = co_await connect(loop_, *parse_endpoint(url), std::move(how));
      made.emplace(std::move(got));
    };
    const auto began = world_.now();
    loop::task_group tasks;
    tasks.spawn(run());
    EXPECT_TRUE(world_.run_until([&] { return made.has_value(); }, 60s));
    const std::chrono::duration<double> took = world_.now() - began;
    return {std::move(*made), took.count()};
  }

  loop::sim_world world_{7};
  loop::sim_loop& loop_ = world_.add_loop();
  std::unique_ptr<listener> listener_;
  std::vector<loop::descriptor> accepted_;
  loop::task_group accepting_;

 private:
  loop::task<> accept_all() {
    for (;;) {
      auto got = co_await listener_->accept();
      if (got) accepted_.push_back(std::move(*got));
    }
  }
};

TEST_F(connector_test, takes_the_first_address_that_answers) {
  world_.names["leader"] = {"10.0.0.1", "10.0.0.2", "127.0.0.1"};
  world_.black_holes = {"10.0.0.1", "10.0.0.2"};
  const auto [made, took] = attempt("tcp://leader:7000", 2s);
  ASSERT_TRUE(made) << describe(made.error());
  EXPECT_TRUE(made->bytes);
  EXPECT_NEAR(took, 4, 0.5);
}

TEST_F(connector_test, gives_up_in_time_and_says_where) {
  world_.black_holes = {"10.0.0.1"};
  const auto [made, took] = attempt("tcp://10.0.0.1:7000", 2s);
  ASSERT_FALSE(made);
  EXPECT_EQ(made.error().code, errc::timed_out);
  EXPECT_NE(describe(made.error()).find("tcp://10.0.0.1:7000"), std::string::npos);
  EXPECT_NEAR(took, 2, 0.5);
}

TEST_F(connector_test, the_time_is_for_the_look_up_too) {
  world_.names["silent"] = {};
  const auto [made, took] = attempt("tcp://silent:7000", 2s);
  ASSERT_FALSE(made);
  EXPECT_EQ(made.error().code, errc::timed_out);
  EXPECT_NE(describe(made.error()).find("'silent'"), std::string::npos);
  EXPECT_NEAR(took, 2, 0.5);
}

class silent_directory final : public directory {
 public:
  loop::task<result<std::vector<endpoint_url>>> find_endpoints(loop::loop& asking,
                                                               std::string /*name*/) override {
    co_await asking.sleep(1h);
    co_return std::vector<endpoint_url>{};
  }
  std::unique_ptr<watch> watch_members(loop::loop& /*asking*/, std::string /*watcher*/,
                                       std::string /*group*/,
                                       std::function<void(place_members)> /*on_members*/) override {
    return std::make_unique<watch>();
  }
};

TEST_F(connector_test, the_time_is_for_finding_a_runtime_too) {
  silent_directory names;
  const auto [made, took] = attempt("runtime://web", 2s, &names);
  ASSERT_FALSE(made);
  EXPECT_EQ(made.error().code, errc::timed_out);
  EXPECT_NE(describe(made.error()).find("'web'"), std::string::npos);
  EXPECT_NEAR(took, 2, 0.5);
}

TEST_F(connector_test, nobody_there_is_refused_at_once) {
  const auto [made, took] = attempt("tcp://127.0.0.1:7001", 2s);
  ASSERT_FALSE(made);
  EXPECT_EQ(made.error().sys_errno, ECONNREFUSED);
  EXPECT_LT(took, 1);
}

TEST(schemes, examples_are_what_each_end_takes) {
  const auto received = scheme_examples(url_use::listen);
  EXPECT_TRUE(received.contains("ws://HOST:PORT, wss://HOST:PORT, udp://")) << received;
  EXPECT_TRUE(received.contains("https://HOST:PORT")) << received;
  EXPECT_TRUE(received.contains("unix:///PATH")) << received;
  EXPECT_FALSE(received.contains("runtime://")) << received;
  const auto reached = scheme_examples(url_use::connect);
  EXPECT_FALSE(reached.contains("http")) << reached;
  EXPECT_TRUE(reached.contains("ws://HOST:PORT/PATH")) << reached;
  EXPECT_TRUE(reached.ends_with(" or runtime://NAME")) << reached;
  EXPECT_TRUE(scheme_examples(url_use::any).contains("http://HOST:PORT"));
}

}  // namespace
}  // namespace strata::net
