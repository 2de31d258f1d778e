// Topology: veth_test.hpp, with the server on vethA and the client on vethB; TCP goes over lo.
#include "strata/ipc/hybrid.hpp"

#include <gtest/gtest.h>
#include <sys/socket.h>

#include <array>
#include <future>
#include <thread>

#include "ipc/hybrid_control.hpp"
#include "l2/veth_test.hpp"
#include "strata/wire/ethernet.hpp"
#include "strata/wire/hybrid_handshake.hpp"

namespace strata::ipc {
namespace {

using namespace std::chrono_literals;

class hybrid_test : public l2::veth_test {
 protected:
  static deadline soon() { return std::chrono::steady_clock::now() + 5s; }
  static hybrid_listener listen(hybrid_config config = {}) {
    config.tcp_port = 0;
    auto made = hybrid_listener::listen("vethA", config);
    if (!made) throw std::runtime_error(describe(made.error()));
    return std::move(*made);
  }
  struct ends {
    hybrid_endpoint server;
    hybrid_endpoint client;
  };
  static ends meet(hybrid_config config = {}, const char* host = "127.0.0.1") {
    auto listener = listen(config);
    config.tcp_port = listener.port();
    auto client = std::async(std::launch::async,
                             [&] { return hybrid_endpoint::create_client("vethB", host, config); });
    auto server = listener.accept();
    auto called = client.get();
    if (!server) throw std::runtime_error(describe(server.error()));
    if (!called) throw std::runtime_error(describe(called.error()));
    return {std::move(*server), std::move(*called)};
  }
  static std::string receive(hybrid_endpoint& endpoint, std::chrono::milliseconds limit = 2000ms) {
    const auto arrived = endpoint.receive_data_with_timeout(limit);
    if (!arrived) return "(" + std::string(name_of(arrived.error().code)) + ")";
    return std::string(as_text(arrived->payload));
  }
};

TEST_F(hybrid_test, data_goes_both_ways_with_its_tag) {
  auto [server, client] = meet();
  EXPECT_EQ(server.session(), client.session());
  EXPECT_EQ(server.peer(), client.link().mac);
  ASSERT_TRUE(client.send_data(as_bytes("up")));
  const auto arrived = server.receive_data();
  ASSERT_TRUE(arrived) << describe(arrived.error());
  EXPECT_EQ(as_text(arrived->payload), "up");
  EXPECT_EQ(arrived->source, client.link().mac);
  EXPECT_TRUE(arrived->was_tagged);
  EXPECT_EQ(arrived->vlan_id, 10);
  EXPECT_EQ(arrived->priority, 7);
  // Zeros at the end of a short message must not be taken for padding.
  const std::string zeros("a\0b\0\0", 5);
  ASSERT_TRUE(server.send_data(as_bytes(zeros)));
  EXPECT_EQ(receive(client), zeros);
  ASSERT_TRUE(server.send_data({}));
  EXPECT_EQ(receive(client), "");
  const std::vector<std::byte> largest(client.max_payload(), std::byte{1});
  EXPECT_EQ(largest.size(), 1490U);
  ASSERT_TRUE(client.send_data(largest));
  EXPECT_EQ(receive(server), as_text(largest));
  const auto refused = client.send_data(std::vector<std::byte>(1491));
  ASSERT_FALSE(refused);
  EXPECT_EQ(refused.error().code, errc::limit_exceeded);
  EXPECT_EQ(receive(client, 20ms), "(timed_out)");
  EXPECT_FALSE(*client.try_receive_data());
}

TEST_F(hybrid_test, a_receiver_thread_runs_beside_the_one_that_sends) {
  auto [server, client] = meet();
  constexpr int count = 200;
  const auto exchange = [](hybrid_endpoint& endpoint, result<void>& ended) {
    int received = 0;
    std::jthread receiver([&](const std::stop_token& stop) {
      ended = endpoint.receive_each([&](const data_message&) { return ++received < count; }, stop);
    });
    for (int sent = 0; sent < count; ++sent) EXPECT_TRUE(endpoint.send_data("data"));
    receiver.join();
    return received;
  };
  result<void> server_end;
  result<void> client_end;
  auto answers = std::async(std::launch::async, [&] { return exchange(server, server_end); });
  EXPECT_EQ(exchange(client, client_end), count);
  EXPECT_EQ(answers.get(), count);
  EXPECT_TRUE(server_end && client_end);
}

TEST_F(hybrid_test, a_receiver_ends_by_a_stop_or_with_its_peer) {
  auto [server, gone] = meet();
  result<void> ended = failure(errc::malformed, "wait", "it did not end");
  {
    const std::jthread idle([&](const std::stop_token& stop) {
      ended = server.receive_each([](const data_message&) { return true; }, stop);
    });
  }
  EXPECT_TRUE(ended);
  {
    auto client = std::move(gone);
    ASSERT_TRUE(client.send_data("last"));
  }
  std::string arrived;
  ended = server.receive_each([&](const data_message& received) {
    arrived += as_text(received.payload);
    return true;
  });
  EXPECT_EQ(arrived, "last");
  ASSERT_FALSE(ended);
  EXPECT_EQ(ended.error().code, errc::connection_closed);
}

TEST_F(hybrid_test, ipv6_other_vlans_and_no_vlan_work) {
  auto [server, client] = meet({.ethertype = 0x88B6, .vlan_id = 0, .priority = 3}, "::1");
  ASSERT_TRUE(client.send_data(as_bytes("six")));
  const auto tagged = server.receive_data();
  ASSERT_TRUE(tagged);
  EXPECT_EQ(tagged->vlan_id, 0);
  EXPECT_EQ(tagged->priority, 3);
  auto [plain_server, plain_client] = meet({.vlan_id = std::nullopt});
  ASSERT_TRUE(plain_server.send_data(as_bytes("plain")));
  const auto untagged = plain_client.receive_data();
  ASSERT_TRUE(untagged);
  EXPECT_FALSE(untagged->was_tagged);
  EXPECT_EQ(as_text(untagged->payload), "plain");
}

TEST_F(hybrid_test, foreign_frames_are_not_taken) {
  auto [server, client] = meet();
  auto stranger = l2::raw_socket::create_bound("vethB", {.receives = false});
  ASSERT_TRUE(stranger);
  std::array<std::byte, 64> payload{};
  const auto send = [&](const mac_address& address, std::uint16_t vlan, std::uint64_t session) {
    const auto size =
        wire::hybrid_data{.session = session, .message = as_bytes("forged")}.write(payload);
    const auto frame =
        wire::build_vlan_frame(server.link().mac, address, {.priority = 7, .vlan_id = vlan}, 0x88B5,
                               byte_span(payload).first(size));
    ASSERT_TRUE(frame);
    ASSERT_TRUE(stranger->send_raw(*frame));
  };
  const auto peer = client.link().mac;
  send(mac_address({2, 9, 9, 9, 9, 9}), 10, client.session());
  send(peer, 11, client.session());
  EXPECT_EQ(receive(server, 50ms), "(timed_out)");
  EXPECT_EQ(server.refused(), 0U) << "the kernel left them out";
  send(peer, 10, client.session() + 1);
  ASSERT_TRUE(stranger->send_to(server.link().mac, 0x88B5, as_bytes("untagged")));
  const auto cut = wire::build_vlan_frame(server.link().mac, peer, {.priority = 7, .vlan_id = 10},
                                          0x88B5, as_bytes("x"));
  ASSERT_TRUE(stranger->send_raw(*cut));
  EXPECT_EQ(receive(server, 50ms), "(timed_out)");
  EXPECT_EQ(server.refused(), 2U);
  send(peer, 10, client.session());
  EXPECT_EQ(receive(server), "forged") << "or else nothing of this was tested";
}

TEST_F(hybrid_test, the_peers_end_is_noticed_after_its_data) {
  auto [server, gone] = meet();
  {
    auto client = std::move(gone);
    ASSERT_TRUE(client.send_data(as_bytes("last")));
  }
  EXPECT_EQ(receive(server), "last");
  EXPECT_EQ(receive(server), "(connection_closed)");
  const auto refused = server.send_data(as_bytes("?"));
  ASSERT_FALSE(refused);
  EXPECT_EQ(refused.error().code, errc::connection_closed);
}

TEST_F(hybrid_test, callers_that_greet_wrongly_do_not_keep_others_out) {
  auto listener = listen({.timeout = 10s, .greeting_timeout = 200ms});
  auto waiting = std::async(std::launch::async, [&] { return listener.accept(); });
  const auto call = [&] { return connect_tcp("127.0.0.1", listener.port(), soon()); };
  const auto silent = call();
  const auto slow = call();
  const auto garbled = call();
  const auto other_vlan = call();
  const auto twin = call();
  const hybrid_config config{.tcp_port = listener.port()};
  wire::hybrid_greeting greeting{
      .mac = mac_address({2, 0, 0, 0, 0, 9}), .ethertype = 0x88B5, .vlan_id = 20, .mtu = 1500};
  ASSERT_TRUE(write_all(slow->get(), as_bytes("str"), soon(), "greet"));
  const std::string garbage(1000, 'x');
  ASSERT_TRUE(write_all(garbled->get(), as_bytes(garbage), soon(), "greet"));
  ASSERT_TRUE(write_all(other_vlan->get(), greeting.build(), soon(), "greet"));
  greeting.vlan_id = 10;
  greeting.mac = l2::interface::query("vethA")->mac;
  ASSERT_TRUE(write_all(twin->get(), greeting.build(), soon(), "greet"));
  auto client = hybrid_endpoint::create_client("vethB", "127.0.0.1", config);
  ASSERT_TRUE(client) << describe(client.error());
  auto server = waiting.get();
  ASSERT_TRUE(server) << describe(server.error());
  ASSERT_TRUE(client->send_data(as_bytes("through")));
  EXPECT_EQ(receive(*server), "through");
}

TEST_F(hybrid_test, deadlines_hold) {
  const hybrid_config hurried{.timeout = 200ms};
  auto nobody = listen(hurried).accept();
  ASSERT_FALSE(nobody);
  EXPECT_EQ(nobody.error().code, errc::timed_out);
  auto listener = listen(hurried);
  const auto three_bytes = connect_tcp("127.0.0.1", listener.port(), soon());
  ASSERT_TRUE(write_all(three_bytes->get(), as_bytes("str"), soon(), "greet"));
  auto slow = listener.accept();
  ASSERT_FALSE(slow);
  EXPECT_EQ(slow.error().code, errc::timed_out);
  EXPECT_NE(slow.error().reason.find("29 bytes did not arrive"), std::string::npos)
      << describe(slow.error());
  // A server that accepts but sends nothing; no server; an address that is not numeric.
  auto mute = listen_tcp("127.0.0.1", 0);
  ASSERT_TRUE(mute);
  auto to_mute = hurried;
  to_mute.tcp_port = port_of(mute->get());
  EXPECT_EQ(hybrid_endpoint::create_client("vethB", "127.0.0.1", to_mute).error().code,
            errc::timed_out);
  mute->reset();
  EXPECT_EQ(hybrid_endpoint::create_client("vethB", "127.0.0.1", to_mute).error().code,
            errc::timed_out);
  EXPECT_EQ(hybrid_endpoint::create_client("vethB", "plc.example", to_mute).error().code,
            errc::invalid_argument);
}

TEST_F(hybrid_test, says_what_is_wrong) {
  const auto code_of = [](const auto& refused) { return refused.error().code; };
  EXPECT_EQ(code_of(hybrid_endpoint::create_server("eth77")), errc::not_found);
  EXPECT_EQ(code_of(hybrid_endpoint::create_server("lo")), errc::invalid_argument);
  EXPECT_EQ(code_of(hybrid_endpoint::create_server("vethA", {.vlan_id = 4095})),
            errc::invalid_argument);
  EXPECT_EQ(code_of(hybrid_endpoint::create_server("vethA", {.priority = 8})),
            errc::invalid_argument);
  auto listener = listen({.timeout = 300ms});
  auto waiting = std::async(std::launch::async, [&] { return listener.accept(); });
  const auto other = hybrid_endpoint::create_client("vethB", "127.0.0.1",
                                                    {.tcp_port = listener.port(), .vlan_id = 20});
  ASSERT_FALSE(other);
  EXPECT_EQ(other.error().code, errc::conflict);
  EXPECT_NE(describe(other.error()).find("it uses VLAN 10, this end uses VLAN 20"),
            std::string::npos)
      << describe(other.error());
  const auto server = waiting.get();
  ASSERT_FALSE(server);
  EXPECT_NE(describe(server.error()).find("it uses VLAN 20, this end uses VLAN 10"),
            std::string::npos)
      << describe(server.error());
}

}  // namespace
}  // namespace strata::ipc
