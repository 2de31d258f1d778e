// Tests the C ABI of messages over raw Ethernet.
#include "strata/strata_ipc.h"

#include <gtest/gtest.h>

#include <cerrno>
#include <memory>
#include <string>
#include <thread>

#include "l2/veth_test.hpp"

namespace strata::abi {
namespace {

template <auto Close>
struct closer {
  template <class Handle>
  void operator()(Handle* handle) const {
    Close(handle);
  }
};
using channel_handle = std::unique_ptr<strata_channel, closer<strata_channel_close>>;
using hybrid_handle = std::unique_ptr<strata_hybrid, closer<strata_hybrid_close>>;
using listener_handle =
    std::unique_ptr<strata_hybrid_listener, closer<strata_hybrid_listener_close>>;
using strata_ipc_test = l2::veth_test;

channel_handle channel_on(const char* interface, bool acknowledged) {
  strata_channel_options options{};
  strata_channel_defaults(&options);
  options.interface_name = interface;
  options.name = "line";
  options.acknowledged = acknowledged ? 1 : 0;
  strata_channel* made = nullptr;
  EXPECT_EQ(strata_channel_open(&options, &made), 0) << strata_last_error();
  return channel_handle(made);
}

std::string next_of(strata_channel* channel) {
  strata_message message{};
  EXPECT_EQ(strata_channel_receive(channel, 5000, &message), 1) << strata_last_error();
  return {static_cast<const char*>(message.bytes), message.size};
}

TEST_F(strata_ipc_test, messages_of_any_size_go_between_processes) {
  const auto one = channel_on("lo", false);
  const auto other = channel_on("lo", false);
  strata_message none{};
  EXPECT_EQ(strata_channel_receive(other.get(), 0, &none), 0);
  EXPECT_EQ(strata_channel_receive(other.get(), 1, &none), 0);
  const std::string large(100'000, 'x');
  ASSERT_EQ(strata_channel_send(one.get(), "", 0), 0);
  ASSERT_EQ(strata_channel_send(one.get(), large.data(), large.size()), 0);
  ASSERT_EQ(strata_channel_post(one.get(), "posted", 6), 1);
  ASSERT_EQ(strata_channel_flush(one.get()), 0);
  EXPECT_EQ(next_of(other.get()), "");
  EXPECT_EQ(next_of(other.get()), large);
  EXPECT_EQ(next_of(other.get()), "posted");
  const std::string too_large(std::size_t{2} << 20U, 'x');
  EXPECT_EQ(strata_channel_send(one.get(), too_large.data(), too_large.size()), -EMSGSIZE);
  strata_channel_statistics counted{};
  EXPECT_EQ(strata_channel_statistics_of(one.get(), &counted), -EINVAL);
  counted.size = sizeof counted;
  ASSERT_EQ(strata_channel_statistics_of(one.get(), &counted), 0);
  EXPECT_EQ(counted.messages_sent, 3U);
  EXPECT_NE(strata_channel_id(one.get()), strata_channel_id(other.get()));
}

TEST_F(strata_ipc_test, an_acknowledged_peer_that_goes_is_told_of_once) {
  const auto one = channel_on("vethA", true);
  auto other = channel_on("vethB", true);
  ASSERT_EQ(strata_channel_send(one.get(), "hello", 5), 0) << strata_last_error();
  // Both ends are on one thread, so each needs its turns.
  strata_message message{};
  while (strata_channel_receive(other.get(), 1, &message) == 0) {
    ASSERT_EQ(strata_channel_turn(one.get()), 0);
  }
  EXPECT_EQ(std::string(static_cast<const char*>(message.bytes), message.size), "hello");
  while (strata_channel_finish(one.get(), 1) != 0) ASSERT_EQ(strata_channel_turn(other.get()), 0);
  EXPECT_EQ(strata_channel_has_peer(one.get()), 1);
  EXPECT_GE(strata_channel_fd(one.get()), 0);
  other.reset();
  EXPECT_EQ(strata_channel_receive(one.get(), 10'000, &message), -ECONNRESET);
  EXPECT_EQ(strata_channel_receive(one.get(), 0, &message), 0);
  EXPECT_EQ(strata_channel_has_peer(one.get()), 0);
}

TEST_F(strata_ipc_test, hybrids_agree_by_tcp_and_send_tagged_frames) {
  strata_hybrid_options options{};
  strata_hybrid_defaults(&options);
  options.tcp_port = 0;
  options.listen_address = "127.0.0.1";
  options.vlan_id = 42;
  options.priority = 6;
  strata_hybrid_listener* made = nullptr;
  ASSERT_EQ(strata_hybrid_listen("vethA", &options, &made), 0) << strata_last_error();
  const listener_handle listener(made);
  options.tcp_port = strata_hybrid_listener_port(listener.get());
  ASSERT_NE(options.tcp_port, 0);
  hybrid_handle client;
  std::thread connecting([&] {
    strata_hybrid* connected = nullptr;
    EXPECT_EQ(strata_hybrid_connect("vethB", "127.0.0.1", &options, &connected), 0)
        << strata_last_error();
    client.reset(connected);
  });
  strata_hybrid* accepted = nullptr;
  EXPECT_EQ(strata_hybrid_accept(listener.get(), &accepted), 0) << strata_last_error();
  hybrid_handle server(accepted);
  connecting.join();
  ASSERT_TRUE(server && client);
  strata_hybrid_message message{};
  EXPECT_EQ(strata_hybrid_receive(client.get(), 0, &message), 0);
  ASSERT_EQ(strata_hybrid_send(server.get(), "start", 5), 0) << strata_last_error();
  ASSERT_EQ(strata_hybrid_receive(client.get(), 5000, &message), 1) << strata_last_error();
  EXPECT_EQ(std::string(static_cast<const char*>(message.bytes), message.size), "start");
  EXPECT_EQ(message.was_tagged, 1);
  EXPECT_EQ(message.vlan_id, 42);
  EXPECT_EQ(message.priority, 6);
  const std::string large(strata_hybrid_max_payload(server.get()) + 1, 'x');
  EXPECT_EQ(strata_hybrid_send(server.get(), large.data(), large.size()), -EMSGSIZE);
  server.reset();
  EXPECT_EQ(strata_hybrid_receive(client.get(), 10'000, &message), -ECONNRESET);
}

TEST_F(strata_ipc_test, what_cannot_be_is_refused) {
  strata_channel_options options{};
  strata_channel_defaults(&options);
  options.interface_name = "vethZ";
  strata_channel* made = nullptr;
  EXPECT_EQ(strata_channel_open(&options, &made), -ENODEV);
  options.interface_name = "lo";
  options.max_message = 0;
  EXPECT_EQ(strata_channel_open(&options, &made), -EINVAL);
  strata_hybrid_listener* listener = nullptr;
  EXPECT_EQ(strata_hybrid_listen("lo", nullptr, &listener), -EINVAL);
  EXPECT_EQ(made, nullptr);
}

}  // namespace
}  // namespace strata::abi
