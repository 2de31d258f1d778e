// For tests: a loop of the backend under test, and connections on it.
#pragma once

#include <gtest/gtest.h>
#include <sys/socket.h>

#include <functional>
#include <memory>
#include <string>
#include <thread>

#include "loop/backends/backend.hpp"
#include "loop/backends/sim_loop.hpp"
#include "net/listener.hpp"
#include "net/stream.hpp"

namespace strata::net {

class backend_stage : public testing::TestWithParam<std::string> {
 protected:
  /// Makes the loop. If the backend is not available, the test is skipped and `prepare` not called.
  void SetUp() final {
    if (is_simulated()) {
      loop_ = &world_.add_loop();
    } else {
      auto made = loop::make_loop(*loop::parse_backend(GetParam()));
      if (!made) GTEST_SKIP() << "NEEDS " << GetParam() << ": " << describe(made.error());
      owned_ = std::move(*made);
      loop_ = owned_.get();
    }
    prepare();
  }
  /// Sets up what a test needs on its loop.
  virtual void prepare() {}

  [[nodiscard]] bool is_simulated() const { return GetParam() == "simulation"; }

  /// Runs turns of the loop until `done`, for at most five seconds.
  bool run_until(const std::function<bool()>& done) {
    if (is_simulated()) return world_.run_until(done, std::chrono::seconds(5));
    const auto limit = std::chrono::steady_clock::now() + std::chrono::seconds(5);
    while (!done() && std::chrono::steady_clock::now() < limit) {
      loop_->turn(false);
      std::this_thread::yield();
    }
    return done();
  }
  void run_turns(int count) {
    run_until([left = count]() mutable { return left-- == 0; });
  }

  struct pair {
    std::unique_ptr<stream> client;
    std::unique_ptr<stream> server;
  };
  pair connected_pair() {
    auto listening = loop_->listen(*loop::socket_address::from_ip("127.0.0.1", 0), {});
    EXPECT_TRUE(listening) << describe(listening.error());
    const auto address = loop_->local_address(*listening);
    listener accepting(*loop_, std::move(*listening));
    pair made;
    loop::task_group tasks;
    tasks.spawn(accept_one(accepting, made.server));
    tasks.spawn(connect_one(address, made.client));
    EXPECT_TRUE(run_until([&] { return made.client && made.server; }));
    return made;
  }

  static loop::task<> read_all(byte_channel& channel, std::string& text, bool& ended) {
    for (;;) {
      auto got = co_await channel.receive();
      if (!got || got->empty()) break;
      text += as_text(got->bytes());
    }
    ended = true;
  }

  loop::sim_world world_{42};
  std::unique_ptr<loop::loop> owned_;
  loop::loop* loop_ = nullptr;

 private:
  loop::task<> accept_one(listener& listener, std::unique_ptr<stream>& stream) {
    auto got = co_await listener.accept();
    if (got) stream = stream::over(*loop_, std::move(*got));
  }
  loop::task<> connect_one(loop::socket_address address, std::unique_ptr<stream>& stream) {
    auto opened = loop_->open_stream(address.family(), 0);
    loop::awaited_request connecting;
    loop_->connect(*opened, address, connecting);
    const int code = co_await connecting;
    EXPECT_EQ(code, 0);
    stream = stream::over(*loop_, std::move(*opened));
  }
};

}  // namespace strata::net
