// Topology: veth_test.hpp. Most tests use lo, where every process of the namespace can meet.
#include "strata/ipc/channel.hpp"

#include <gtest/gtest.h>
#include <sys/wait.h>

#include <algorithm>
#include <random>
#include <thread>

#include "l2/veth_test.hpp"
#include "strata/l2/raw_socket.hpp"

namespace strata::ipc {
namespace {

using namespace std::chrono_literals;

std::vector<std::byte> text(std::string_view text) {
  const auto bytes = as_bytes(text);
  return {bytes.begin(), bytes.end()};
}

std::vector<std::byte> numbered(std::uint32_t number, std::size_t size) {
  std::vector<std::byte> made(size);
  std::mt19937 random(number);
  for (auto& each : made) each = static_cast<std::byte>(random());
  return made;
}

class ipc_channel_test : public l2::veth_test {
 protected:
  static channel open(const channel_config& config) {
    auto made = channel::create(config);
    if (!made) throw std::runtime_error(describe(made.error()));
    return std::move(*made);
  }
  static std::string receive(channel& channel, std::chrono::milliseconds limit = 2000ms) {
    const auto arrived = channel.receive_with_timeout(limit);
    return arrived ? std::string(as_text(*arrived))
                   : "(" + std::string(name_of(arrived.error().code)) + ")";
  }
  /// Turns both until they have found each other.
  static bool join(channel& a, channel& b) {
    const auto limit = std::chrono::steady_clock::now() + 5s;
    while (!a.has_peer() || !b.has_peer()) {
      if (!a.turn() || !b.turn() || std::chrono::steady_clock::now() > limit) return false;
      std::this_thread::sleep_for(1ms);
    }
    return true;
  }
};

TEST_F(ipc_channel_test, a_message_reaches_all_others_of_its_channel_and_nobody_else) {
  auto a = open({.channel = "one"});
  auto b = open({.channel = "one"});
  auto c = open({.channel = "one"});
  auto other = open({.channel = "two"});
  auto foreign = open({.channel = "one", .ethertype = 0xAAAB});
  ASSERT_TRUE(a.send(text("hello")));
  ASSERT_TRUE(a.send({}));
  for (auto* each : {&b, &c}) {
    EXPECT_EQ(receive(*each), "hello");
    EXPECT_EQ(receive(*each), "");
  }
  for (auto* each : {&a, &b, &c, &other, &foreign}) EXPECT_FALSE(*each->try_receive());
  // Not even its own socket received anything of another channel, or of itself.
  for (auto* each : {&a, &other, &foreign}) EXPECT_EQ(each->statistics().frames_received, 0U);
  ASSERT_TRUE(b.send(text("back")));
  EXPECT_EQ(receive(a), "back");
  EXPECT_EQ(receive(c), "back");
}

TEST_F(ipc_channel_test, each_message_is_handed_over_until_the_handler_or_a_stop_ends_it) {
  for (const bool is_acknowledged : {false, true}) {
    auto client = open({.acknowledged = is_acknowledged});
    auto server = open({.acknowledged = is_acknowledged});
    if (is_acknowledged) {
      ASSERT_TRUE(join(client, server));
    }
    std::jthread answering([&](const std::stop_token& stop) {
      const auto ended = server.receive_each(
          [&](const message& received) { return server.send(received.bytes).has_value(); }, stop);
      EXPECT_TRUE(ended) << describe(ended.error());
    });
    std::string arrived;
    for (const auto* each : {"one", "two", "last"}) ASSERT_TRUE(client.send(each));
    const auto ended = client.receive_each([&](const message& received) {
      arrived += as_text(received.bytes);
      return as_text(received.bytes) != "last";
    });
    EXPECT_TRUE(ended) << describe(ended.error());
    EXPECT_EQ(arrived, "onetwolast");
    // A stop request wakes a waiting receiver, and the join returns.
  }
  auto idle = open({});
  std::stop_source stopped;
  stopped.request_stop();
  EXPECT_TRUE(idle.receive_each([](const message&) { return true; }, stopped.get_token()));
}

TEST_F(ipc_channel_test, messages_go_over_a_veth) {
  auto a = open({.interface_name = "vethA"});
  auto b = open({.interface_name = "vethB"});
  auto local = open({});
  const auto large = numbered(1, 1U << 20U);
  ASSERT_TRUE(a.send(text("hello")));
  EXPECT_EQ(receive(b), "hello");
  ASSERT_TRUE(b.send(large));
  EXPECT_EQ(receive(a), as_text(large));
  EXPECT_FALSE(*local.try_receive());
}

TEST_F(ipc_channel_test, what_goes_together_shares_a_frame) {
  auto a = open({.max_delay = 1h});
  auto b = open({});
  const auto message = numbered(7, 50);
  std::vector<byte_span> batch(1000, message);
  ASSERT_TRUE(a.send_batch(batch));
  EXPECT_EQ(a.statistics().frames_sent, 1U);
  for (int i = 0; i < 1000; ++i) ASSERT_EQ(receive(b), as_text(message));
  EXPECT_EQ(b.statistics().frames_received, 1U);
  // A frame has just been sent, so the next messages wait for others.
  for (int i = 0; i < 10; ++i) ASSERT_TRUE(a.post(message).value());
  EXPECT_EQ(a.statistics().frames_sent, 1U);
  EXPECT_TRUE(a.deadline());
  ASSERT_TRUE(a.flush());
  EXPECT_FALSE(a.deadline());
  EXPECT_EQ(a.statistics().frames_sent, 2U);
  for (int i = 0; i < 10; ++i) ASSERT_EQ(receive(b), as_text(message));
}

TEST_F(ipc_channel_test, full_frames_wait_for_each_other_up_to_a_size) {
  auto a = open({.interface_name = "vethA", .max_delay = 1h});
  auto b = open({.interface_name = "vethB"});
  ASSERT_TRUE(a.send(text("first")));
  EXPECT_EQ(receive(b), "first");
  const auto message = numbered(7, 50);
  for (int i = 0; i < 100; ++i) ASSERT_TRUE(a.post(message).value());
  EXPECT_EQ(a.statistics().frames_sent, 1U);
  EXPECT_TRUE(a.deadline());
  ASSERT_TRUE(a.flush());
  EXPECT_EQ(a.statistics().frames_sent, 5U);  // 27 messages per frame of 1500 bytes
  for (int i = 0; i < 100; ++i) ASSERT_EQ(receive(b), as_text(message));
  for (int i = 0; i < 2000; ++i) ASSERT_TRUE(a.post(message).value());
  EXPECT_GE(a.statistics().frames_sent, 5 + 65536U / 1500);
  EXPECT_LT(a.statistics().frames_sent, 5 + 2000U / 27);
}

TEST_F(ipc_channel_test, full_frames_go_at_the_deadline) {
  auto a = open({.interface_name = "vethA", .max_delay = 1ms});
  auto b = open({.interface_name = "vethB"});
  const auto message = numbered(7, 50);
  for (int i = 0; i < 100; ++i) ASSERT_TRUE(a.post(message).value());
  while (const auto next = a.deadline()) {
    std::this_thread::sleep_until(*next);
    ASSERT_TRUE(a.turn());
  }
  for (int i = 0; i < 100; ++i) ASSERT_EQ(receive(b), as_text(message));
}

TEST_F(ipc_channel_test, messages_of_every_size_arrive) {
  auto a = open({});
  auto b = open({});
  for (const std::size_t size :
       {0UL, 1UL, 65400UL, 65463UL, 65477UL, 65478UL, 65535UL, 65536UL, 131072UL, 1UL << 20U}) {
    const auto message = numbered(static_cast<std::uint32_t>(size), size);
    ASSERT_TRUE(a.send(message));
    ASSERT_EQ(receive(b), as_text(message)) << size;
  }
  const auto refused = a.send(std::vector<std::byte>((1U << 20U) + 1));
  ASSERT_FALSE(refused);
  EXPECT_EQ(refused.error().code, errc::limit_exceeded);
}

TEST_F(ipc_channel_test, a_receiver_that_is_too_slow_counts_what_it_lost) {
  auto a = open({});
  auto b = open({.receive_buffer = 1U << 18U});
  const auto message = numbered(1, 60000);
  constexpr std::uint64_t count = 200;
  for (std::uint64_t i = 0; i < count; ++i) ASSERT_TRUE(a.send(message));
  std::uint64_t received = 0;
  while (*b.try_receive()) ++received;
  EXPECT_LT(received, count);
  // The gap is known once a later message arrives.
  ASSERT_TRUE(a.send(text("end")));
  EXPECT_EQ(receive(b), "end");
  const auto counted = b.statistics();
  EXPECT_EQ(counted.messages_lost, count - received);
  EXPECT_EQ(counted.frames_lost, count - received);
  EXPECT_EQ(counted.dropped, count - received);
  EXPECT_EQ(counted.messages_received, received + 1);
}

TEST_F(ipc_channel_test, says_what_is_wrong) {
  const auto missing = channel::create({.interface_name = "eth77"});
  ASSERT_FALSE(missing);
  EXPECT_EQ(missing.error().code, errc::not_found);
  EXPECT_NE(describe(missing.error()).find("eth77"), std::string::npos);
  EXPECT_EQ(channel::create({.channel = ""}).error().code, errc::invalid_argument);
  EXPECT_EQ(channel::create({.ethertype = 100}).error().code, errc::invalid_argument);
  EXPECT_EQ(channel::create({.ethertype = 0x8100}).error().code, errc::invalid_argument);
  EXPECT_EQ(channel::create({.max_message = 1U << 22U}).error().code, errc::invalid_argument);
  auto a = open({});
  EXPECT_EQ(receive(a, 20ms), "(timed_out)");
  auto lonely = open({.acknowledged = true});
  const auto waited = lonely.receive_with_timeout(20ms);
  ASSERT_FALSE(waited);
  EXPECT_NE(describe(waited.error()).find("no peer yet"), std::string::npos);
}

TEST_F(ipc_channel_test, goes_on_after_the_link_was_down) {
  auto a = open({.interface_name = "vethA"});
  auto b = open({.interface_name = "vethB"});
  l2::run_command("ip link set vethA down");
  const auto refused = a.send(text("lost"));
  ASSERT_FALSE(refused);
  EXPECT_EQ(refused.error().code, errc::connection_closed);
  EXPECT_EQ(receive(a, 20ms), "(connection_closed)");
  l2::run_command("ip link set vethA up");
  ASSERT_TRUE(a.send(text("found")));
  EXPECT_EQ(receive(b), "found");
  l2::run_command("ip link del vethA");
  EXPECT_EQ(a.send(text("gone")).error().code, errc::not_found);
}

TEST_F(ipc_channel_test, acknowledged_ends_find_each_other_and_part) {
  auto a = open({.acknowledged = true});
  // Waits for the peer.
  ASSERT_TRUE(a.send(text("early")));
  {
    auto b = open({.acknowledged = true});
    ASSERT_TRUE(join(a, b));
    EXPECT_EQ(receive(b), "early");
    const auto large = numbered(3, 1U << 20U);
    ASSERT_TRUE(b.send(large));
    EXPECT_EQ(receive(a), as_text(large));
    ASSERT_TRUE(b.send(text("last")));
    EXPECT_EQ(a.statistics().retransmitted, 0U);
  }
  EXPECT_EQ(receive(a), "last") << "what came before the end is still received";
  EXPECT_EQ(receive(a), "(connection_closed)");
  auto c = open({.acknowledged = true});
  ASSERT_TRUE(join(a, c));
  ASSERT_TRUE(c.send(text("again")));
  EXPECT_EQ(receive(a), "again");
}

TEST_F(ipc_channel_test, the_modes_do_not_understand_each_other) {
  auto a = open({.acknowledged = true});
  auto b = open({});
  ASSERT_TRUE(b.send(text("?")));
  ASSERT_TRUE(a.turn());
  EXPECT_FALSE(*a.try_receive());
  EXPECT_FALSE(*b.try_receive());
  EXPECT_GT(a.statistics().refused, 0U);
  EXPECT_GT(b.statistics().refused, 0U);
}

// Sends `count` messages specific to its channel and waits for as many; returns 0 if all were
// correct.
int talk(const std::string& channel, bool speaks_first, std::uint32_t count) {
  auto made = channel::create({.channel = channel, .acknowledged = true});
  if (!made) return 1;
  const auto mine = static_cast<std::uint32_t>(channel.size() * 2 + (speaks_first ? 1 : 0));
  const auto theirs = mine ^ 1U;
  const auto size_of = [](std::uint32_t number) { return number * 7919 % 70000; };
  for (std::uint32_t i = 0; i < count; ++i) {
    if (!made->send(numbered(i * 16 + mine, size_of(i)))) return 2;
    const auto arrived = made->receive_with_timeout(5000ms);
    if (!arrived) return 3;
    if (*arrived != numbered(i * 16 + theirs, size_of(i))) return 4;
  }
  if (!made->finish(5000ms)) return 5;
  return made->statistics().messages_received == count ? 0 : 6;
}

//     process 1 ==(lo, channel "a")== process 2        process 3 ==(lo, channel "bb")== process 4
TEST_F(ipc_channel_test, two_channels_of_two_processes_each_do_not_mix) {
  std::vector<pid_t> children;
  for (const char* channel : {"a", "bb"}) {
    for (const bool first : {true, false}) {
      const pid_t child = ::fork();
      ASSERT_GE(child, 0);
      if (child == 0) ::_exit(talk(channel, first, 300));
      children.push_back(child);
    }
  }
  for (const auto child : children) {
    int status = 0;
    ASSERT_EQ(::waitpid(child, &status, 0), child);
    EXPECT_TRUE(WIFEXITED(status) && WEXITSTATUS(status) == 0) << "step " << WEXITSTATUS(status);
  }
}

TEST_F(ipc_channel_test, a_peer_that_was_killed_is_noticed) {
  const pid_t child = ::fork();
  ASSERT_GE(child, 0);
  const channel_config config{.acknowledged = true, .peer_timeout = 300ms};
  if (child == 0) {
    auto peer = channel::create(config);
    if (!peer || !peer->send(text("here"))) ::_exit(1);
    std::ignore = peer->receive();
    ::raise(SIGKILL);
  }
  auto a = open(config);
  EXPECT_EQ(receive(a), "here");
  ASSERT_TRUE(a.send(text("die")));
  ASSERT_EQ(::waitpid(child, nullptr, 0), child);
  ASSERT_TRUE(a.send(text("two")));
  ASSERT_TRUE(a.send(text("three")));
  const auto noticed = a.receive_with_timeout(5000ms);
  ASSERT_FALSE(noticed);
  EXPECT_EQ(noticed.error().code, errc::connection_closed);
  EXPECT_NE(noticed.error().reason.find("messages sent may not have arrived"), std::string::npos)
      << describe(noticed.error());
  auto b = open(config);
  ASSERT_TRUE(join(a, b));
  ASSERT_TRUE(a.send(text("back")));
  EXPECT_EQ(receive(b), "back");
}

}  // namespace
}  // namespace strata::ipc
