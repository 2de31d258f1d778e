// For tests: a runtime on simulated loops, and actors that connect to it from outside.
#pragma once

#include <gtest/gtest.h>

#include <memory>
#include <nlohmann/json.hpp>
#include <optional>
#include <string>
#include <vector>

#include "http/websocket_port.hpp"
#include "loop/backends/sim_loop.hpp"
#include "net/message_port.hpp"
#include "net/testing/seeds.hpp"
#include "net/tls/context.hpp"
#include "proto/framing.hpp"
#include "runtime/operations.hpp"
#include "runtime/runtime.hpp"

namespace strata::runtime {

// There are no other runtimes.
class no_directory final : public net::directory {
 public:
  loop::task<result<std::vector<net::endpoint_url>>> find_endpoints(loop::loop& /*asking*/,
                                                                    std::string name) override {
    co_return failure(errc::not_found, "find '" + name + "'", "there is no other runtime");
  }
  std::unique_ptr<watch> watch_members(
      loop::loop& /*asking*/, std::string /*watcher*/, std::string /*group*/,
      std::function<void(net::place_members)> /*on_members*/) override {
    return std::make_unique<watch>();
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
  std::shared_ptr<strata::runtime::tap> tap = std::make_shared<strata::runtime::tap>();

  [[nodiscard]] context given() {
    return {"subject", home, *this, names_, binding_, log, messages, tap};
  }

  /// Runs a task on the home loop to its end; nullopt if it takes more than ten seconds.
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
  loop::async_lock binding_{home};
};

/// A client of a server: connects, and records the messages that it reads.
class actor {
 public:
  /// How its messages are carried: in a framing, or in a WebSocket, compressed or not.
  enum class voice : std::uint8_t { framed, websocket, deflated };

  /// With a context, everything uses TLS.
  actor(loop::loop& loop, proto::framing framing, voice voice = voice::framed,
        std::shared_ptr<const net::tls_context> secured_by = {})
      : loop_(loop), framing_(framing), voice_(voice), secured_by_(std::move(secured_by)) {}

  /// Connects and records what it receives; with `reads` false, it never reads.
  void connect(std::uint16_t port, bool reads = true) { tasks_.spawn(live(port, reads)); }
  void send(const std::string& message) {
    if (port_) (void)port_->offer(as_bytes(message));
  }
  void leave() {
    tasks_.cancel();
    port_.reset();
  }

  [[nodiscard]] bool connected() const { return port_ != nullptr && !ended_; }
  [[nodiscard]] bool ended() const { return ended_; }
  [[nodiscard]] bool delivered() const { return port_ == nullptr || port_->unsent() == 0; }
  [[nodiscard]] const std::vector<std::string>& received() const { return received_; }

 private:
  loop::task<> live(std::uint16_t port, bool reads) {
    auto opened = loop_.open_stream(AF_INET, 0);
    loop::awaited_request connecting;
    const auto to = *loop::socket_address::from_ip("127.0.0.1", port);
    loop_.connect(*opened, to, connecting);
    const int code = co_await connecting;
    if (code == 0) co_await speak(net::stream::over(loop_, std::move(*opened)), port);
    if (!port_) {
      ended_ = true;
      co_return;
    }
    if (!reads) co_return;
    net::message_port::receiver receiver{
        .on_bytes = [](std::size_t) {},
        .on_message = [this](byte_span message) { received_.emplace_back(as_text(message)); },
        .on_trouble = [](const error&, bool) {},
        .on_notice = [](bool, const std::string&) {}};
    const auto why = co_await port_->receive(std::move(receiver));
    const bool is_cut_off = secured_by_ && why.code == errc::malformed;
    EXPECT_TRUE(why.code == errc::connection_closed || is_cut_off) << describe(why);
    ended_ = true;
  }

  loop::task<> speak(std::unique_ptr<net::stream> stream, std::uint16_t port) {
    if (secured_by_) {
      const auto agreed =
          co_await stream->start_tls(secured_by_, "localhost", loop::time_point::max());
      if (!agreed) co_return;
    }
    if (voice_ == voice::framed) {
      net::connection made{std::move(stream), nullptr};
      port_ = net::make_message_port(loop_, std::move(made), framing_, 1U << 20U);
      co_return;
    }
    const auto url = *net::parse_endpoint("ws://127.0.0.1:" + std::to_string(port) + "/");
    http::websocket_wishes wishes{.fields = {}, .protocols = {}};
    wishes.is_deflated = voice_ == voice::deflated;
    auto opened = co_await http::connect_websocket(loop_, std::move(stream), url, wishes,
                                                   loop::time_point::max());
    if (opened) port_ = std::move(*opened);
  }

  loop::loop& loop_;
  proto::framing framing_;
  voice voice_;
  std::shared_ptr<const net::tls_context> secured_by_;
  std::unique_ptr<net::message_port> port_;
  std::vector<std::string> received_;
  bool ended_ = false;
  loop::task_group tasks_;
};

/// Performs an operation of those rows on a running runtime.
[[nodiscard]] inline loop::task<result<nlohmann::json>> asked(
    runtime& subject, const std::vector<operation_row>& rows, std::string_view name,
    std::string body = {}) {
  return find_operation(rows, name)->run(subject, {.body = std::move(body)});
}

}  // namespace strata::runtime
