// The client in a simulated world: a server that dies and comes back, and what happens to messages
// sent meanwhile.
#include <gtest/gtest.h>

#include "net/listener.hpp"
#include "runtime/client/client.hpp"
#include "runtime/testing/sim_stage.hpp"

namespace strata::runtime::client {
namespace {

using namespace std::chrono_literals;

constexpr std::uint16_t port = 7001;

/// Listens, records every line of every connection, and ends connections on request.
class far_server {
 public:
  explicit far_server(loop::loop& loop) : loop_(loop) {}

  void open() {
    auto listening = loop_.listen(*loop::socket_address::from_ip("127.0.0.1", port), {});
    ASSERT_TRUE(listening);
    listener_ = std::make_unique<net::listener>(loop_, std::move(*listening));
    tasks_.spawn(accept_all());
  }
  void close() {
    tasks_.cancel();
    listener_.reset();
  }
  [[nodiscard]] const std::vector<std::string>& received() const { return received_; }
  [[nodiscard]] std::size_t accepted() const { return accepted_; }

 private:
  loop::task<> accept_all() {
    for (;;) {
      auto connection = co_await listener_->accept();
      if (!connection) continue;
      ++accepted_;
      tasks_.spawn(read(std::move(*connection)));
    }
  }
  loop::task<> read(loop::descriptor connection) {
    net::stream wire(loop_, std::move(connection));
    proto::frame_reader reader(proto::framing::line, 1U << 20U);
    for (;;) {
      auto got = co_await wire.receive();
      if (!got || got->empty()) co_return;
      (void)reader.feed(got->bytes(),
                        [this](byte_span line) { received_.emplace_back(as_text(line)); });
    }
  }

  loop::loop& loop_;
  std::unique_ptr<net::listener> listener_;
  std::vector<std::string> received_;
  std::size_t accepted_ = 0;
  loop::task_group tasks_;
};

std::unique_ptr<runtime> made_client(sim_stage& stage, nlohmann::json options) {
  if (!options.contains("connect")) {
    options["connect"] = "tcp://localhost:" + std::to_string(port);
  }
  auto made = make(stage.given(), options);
  EXPECT_TRUE(made) << describe(made.error());
  return std::move(*made);
}

TEST(client_simulation, without_reconnect_a_dead_target_is_an_error_at_start) {
  for_each_seed([](std::uint64_t seed) {
    sim_stage stage(seed);
    auto client = made_client(stage, {});
    const auto started = stage.await(client->start());
    ASSERT_TRUE(started);
    ASSERT_FALSE(*started);
    EXPECT_EQ(started->error().code, errc::connection_closed);
    client.reset();
    stage.world.run_for(1s);
    EXPECT_EQ(stage.world.open_count(), 0U);
  });
}

TEST(client_simulation, what_was_accepted_arrives_once_and_in_order_after_reconnecting) {
  for_each_seed([](std::uint64_t seed) {
    sim_stage stage(seed);
    far_server server(stage.outside);
    auto client = made_client(stage, {{"reconnect", 0},
                                      {"reconnect_min", 0.01},
                                      {"reconnect_max", 0.05},
                                      {"reconnect_seed", 7},
                                      {"queue", 3}});
    const auto started = stage.await(client->start());
    ASSERT_TRUE(started && *started);
    std::vector<std::string> accepted;
    std::size_t refused = 0;
    for (int i = 0; i < 5; ++i) {
      const auto text = "early " + std::to_string(i);
      const auto sent = stage.await(asked(*client, operation_rows(), "send", text));
      ASSERT_TRUE(sent);
      if (*sent) {
        EXPECT_EQ((*sent)->at("queued"), 1);
        accepted.push_back(text);
      } else {
        ++refused;
      }
    }
    EXPECT_EQ(accepted.size(), 3U);
    EXPECT_EQ(refused, 2U);
    server.open();
    ASSERT_TRUE(
        stage.world.run_until([&] { return client->stats().connections_now.get() == 1; }, 60s));
    for (int i = 0; i < 5; ++i) {
      const auto text = "late " + std::to_string(i);
      const auto sent = stage.await(asked(*client, operation_rows(), "send", text));
      ASSERT_TRUE(sent && *sent);
      accepted.push_back(text);
    }
    EXPECT_TRUE(
        stage.world.run_until([&] { return server.received().size() >= accepted.size(); }, 60s));
    EXPECT_EQ(server.received(), accepted);
    EXPECT_TRUE(stage.await_done(client->stop()));
    client.reset();
    server.close();
    stage.world.run_for(1s);
    EXPECT_EQ(stage.world.open_count(), 0U);
  });
}

// A datagram without room was dropped, and does not count as sent.
TEST(client_simulation, a_datagram_counts_as_sent_or_as_dropped) {
  constexpr int count = 9000;
  const std::string message(4096, 'm');
  sim_stage stage(1);
  stage.world.names["late"] = {"no address yet"};
  auto client = made_client(stage, {{"connect", "udp://late:" + std::to_string(port)},
                                    {"reconnect", 0},
                                    {"reconnect_min", 0.01},
                                    {"reconnect_max", 0.05},
                                    {"queue", count}});
  const auto started = stage.await(client->start());
  ASSERT_TRUE(started && *started);
  for (int i = 0; i < count; ++i) {
    const auto sent = stage.await(asked(*client, operation_rows(), "send", message));
    ASSERT_TRUE(sent && *sent && (*sent)->at("queued") == 1);
  }
  // All messages are sent at once when there is an address.
  stage.world.names["late"] = {"127.0.0.1"};
  ASSERT_TRUE(
      stage.world.run_until([&] { return client->stats().connections_now.get() == 1; }, 60s));
  const auto stats = client->stats();
  const auto dropped = stats.dropped[static_cast<std::size_t>(drop::slow_client)].get();
  EXPECT_GT(dropped, 0U);
  EXPECT_EQ(stats.messages_out.get() + dropped, std::uint64_t{count});
  EXPECT_EQ(stats.bytes_out.get(), stats.messages_out.get() * message.size());
  EXPECT_TRUE(stage.await_done(client->stop()));
}

TEST(client_simulation, comes_back_after_every_reset_and_stops_at_any_moment) {
  for_each_seed([](std::uint64_t seed) {
    sim_stage stage(seed);
    far_server server(stage.outside);
    server.open();
    auto client =
        made_client(stage, {{"reconnect", 0}, {"reconnect_min", 0.005}, {"reconnect_max", 0.02}});
    const auto started = stage.await(client->start());
    ASSERT_TRUE(started && *started);
    stage.world.faults.reset = 0.1;
    for (int i = 0; i < 20; ++i) {
      (void)stage.await(asked(*client, operation_rows(), "send", "line " + std::to_string(i)));
      stage.world.run_for(loop::duration(stage.world.draw(20'000'000)));
    }
    stage.world.faults.reset = 0;
    if (seed % 2 == 0) {
      EXPECT_TRUE(
          stage.world.run_until([&] { return client->stats().connections_now.get() == 1; }, 60s));
    }
    std::size_t last = 0;
    for (const auto& line : server.received()) {
      ASSERT_TRUE(line.starts_with("line ")) << line;
      const auto number = std::stoul(line.substr(5)) + 1;
      EXPECT_GT(number, last) << "twice, or out of order";
      last = number;
    }
    EXPECT_TRUE(stage.await_done(client->stop()));
    client.reset();
    server.close();
    stage.world.run_for(1s);
    EXPECT_EQ(stage.world.open_count(), 0U);
  });
}

}  // namespace
}  // namespace strata::runtime::client
