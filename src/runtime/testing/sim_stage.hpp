// For tests: a runtime on simulated loops, and actors that connect to it from outside.
#pragma once

#include <gtest/gtest.h>

#include <memory>
#include <nlohmann/json.hpp>
#include <optional>
#include <string>
#include <vector>

#include "loop/sim_loop.hpp"
#include "net/stream.hpp"
#include "net/testing/seeds.hpp"
#include "proto/framing.hpp"
#include "runtime/runtime.hpp"

namespace strata::runtime {

// The subject is alone.
class no_directory final : public net::directory {
 public:
  loop::task<result<std::vector<net::endpoint_url>>> find_endpoints(loop::loop& /*asking*/,
                                                                    std::string name) override {
    co_return failure(errc::not_found, "find '" + name + "'", "there is no other runtime");
  }
};

class sim_stage final : private loop_source {
 public:
  explicit sim_stage(std::uint64_t seed) : world(seed) {}

  loop::sim_world world;
  loop::sim_loop& home = world.add_loop();
  loop::sim_loop& outside = world.add_loop();
  std::shared_ptr<journal> log = std::make_shared<journal>();
  std::shared_ptr<journal> messages = std::make_shared<journal>(0);

  [[nodiscard]] context given() {
    return {"subject", home, *this, names_, binding_, log, messages};
  }

  /// Runs a task on the home loop to its end; false when it takes more than ten seconds.
  template <class T>
  std::optional<T> await(loop::task<T> work) {
    std::optional<T> value;
    const auto run = [](loop::task<T> inner, std::optional<T>& into) -> loop::task<> {
      into.emplace(co_await inner);
    };
    home.spawn(run(std::move(work), value));
    world.run_until([&] { return value.has_value(); }, std::chrono::seconds(10));
    return value;
  }
  bool await_done(loop::task<void> work) {
    const auto run = [](loop::task<void> inner) -> loop::task<bool> {
      co_await inner;
      co_return true;
    };
    return await(run(std::move(work))).has_value();
  }

 private:
  result<std::vector<loop::loop*>> assign(std::size_t count) override {
    while (workers_.size() < count) workers_.push_back(&world.add_loop());
    return std::vector(workers_.begin(), workers_.begin() + static_cast<std::ptrdiff_t>(count));
  }
  void release(const std::vector<loop::loop*>& /*loops*/) override {}
  [[nodiscard]] std::size_t size() const override { return workers_.size(); }

  std::vector<loop::loop*> workers_;
  no_directory names_;
  loop::async_lock binding_;
};

/// A client that is not strata's: connects, keeps what it reads, message by message.
class actor {
 public:
  actor(loop::loop& on, proto::framing how) : loop_(on), framing_(how) {}

  /// Tells what it heard; `reads` false: it never reads.
  void connect(std::uint16_t port, bool reads = true) { tasks_.spawn(live(port, reads)); }
  void send(const std::string& message) {
    if (!wire_) return;
    const auto envelope = proto::envelope_for(framing_, message.size());
    std::string framed(as_text(envelope.head()));
    framed += message;
    framed += envelope.after;
    wire_->push_copy(as_bytes(framed));
  }
  void leave() {
    tasks_.cancel();
    wire_.reset();
  }

  [[nodiscard]] bool connected() const { return wire_ != nullptr && !ended_; }
  [[nodiscard]] bool ended() const { return ended_; }
  [[nodiscard]] bool delivered() const { return wire_ == nullptr || wire_->unsent() == 0; }
  [[nodiscard]] const std::vector<std::string>& heard() const { return heard_; }

 private:
  loop::task<> live(std::uint16_t port, bool reads) {
    auto opened = loop_.open_stream(AF_INET, 0);
    loop::awaited_request connecting;
    const auto to = *loop::socket_address::from_ip("127.0.0.1", port);
    loop_.connect(*opened, to, connecting);
    if (co_await connecting != 0) {
      ended_ = true;
      co_return;
    }
    wire_ = net::stream::over(loop_, std::move(*opened));
    proto::frame_reader reader(framing_, 1U << 20U);
    while (reads) {
      auto got = co_await wire_->receive();
      if (!got || got->empty()) break;
      const auto fed = reader.feed(
          got->bytes(), [this](byte_span message) { heard_.emplace_back(as_text(message)); });
      EXPECT_TRUE(fed) << "framing broke at the receiver";
    }
    ended_ = reads;
  }

  loop::loop& loop_;
  proto::framing framing_;
  std::unique_ptr<net::stream> wire_;
  std::vector<std::string> heard_;
  bool ended_ = false;
  loop::task_group tasks_;
};

}  // namespace strata::runtime
