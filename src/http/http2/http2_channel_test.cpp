// An HTTP/2 stream as a byte channel, against a libnghttp2 client, on every backend.
#include "http/http2/http2_channel.hpp"

#include <gtest/gtest.h>

#include <algorithm>
#include <array>

#include "http/http2/http2_connection.hpp"
#include "http/websocket_opening.hpp"
#include "net/testing/backend_stage.hpp"
#include "proto/http/http2_test_peer.hpp"

namespace strata::http {
namespace {

using namespace std::chrono_literals;

class http2_channel_test : public net::backend_stage {
 protected:
  void prepare() override { connect(); }
  void connect() {
    tasks_.cancel();
    peer_ = std::make_unique<proto::http2_test_peer>();
    auto [client, server] = connected_pair();
    wire_ = std::move(client);
    served_ = std::make_unique<http2_connection>(*loop_, std::move(server));
    tasks_.spawn(run_server());
    tasks_.spawn(run_client());
  }

  void send_request() {
    if (says_nothing_) return;
    if (const auto said = peer_->take(); !said.empty()) wire_->push_copy(as_bytes(said));
  }
  bool says_until(const std::function<bool()>& done) {
    send_request();
    return run_until(done);
  }
  [[nodiscard]] bool is_closed(std::uint32_t stream) { return peer_->of(stream).is_closed; }
  [[nodiscard]] const std::string& received(std::uint32_t stream) { return peer_->of(stream).body; }
  std::uint32_t open(proto::http_fields more = {}, std::string first = {}) {
    more.emplace_back("sec-websocket-version", "13");
    return peer_->connect("websocket", more, std::move(first));
  }

  std::unique_ptr<net::stream> wire_;
  std::unique_ptr<http2_connection> served_;
  std::unique_ptr<proto::http2_test_peer> peer_;
  std::string ends_;  // how channels have ended: one letter each
  net::byte_channel* channel_ = nullptr;
  bool reads_ = true;
  bool says_nothing_ = false;
  bool wire_ended_ = false;
  loop::task_group tasks_;

 private:
  loop::task<> run_server() {
    const handlers handlers{.answer = [this](exchange& exchange) { return serve(exchange); },
                            .refuse =
                                [](int, const error& why, const net::peer_info&) {
                                  return std::pair{describe(why), std::string("text/plain")};
                                }};
    co_await served_->serve(handlers);
  }
  loop::task<> run_client() {
    for (;;) {
      auto got = co_await wire_->receive();
      if (!got || got->empty()) break;
      EXPECT_TRUE(peer_->feed(as_text(got->bytes())));
      send_request();
    }
    wire_ended_ = true;
  }

  // Echoes everything; "." aborts, "!" closes, "?" ends only the sending direction.
  loop::task<> serve(exchange& exchange) {
    if (!asks_for_websocket(exchange)) {
      exchange.respond(200, "text/plain", exchange.method());
      co_return;
    }
    const websocket_settings how{.protocols = {"chat"}, .origins = {}, .is_deflated = true};
    auto opened = open_websocket(exchange, how);
    if (!opened) co_return;
    auto& channel = *opened->channel;
    channel_ = &channel;
    for (;;) {
      while (!reads_) co_await loop_->sleep(1ms);
      auto got = co_await channel.receive();
      if (!got) ends_ += 'r';
      if (got && got->empty()) ends_ += 'e';
      if (!got || got->empty()) break;
      const auto text = as_text(got->bytes());
      if (text == "!") break;
      if (text == "?") {
        channel.end();
      } else if (text == ".") {
        channel.abort();
      } else {
        channel.push_copy(got->bytes());
      }
    }
    channel_ = nullptr;
  }
};

TEST_P(http2_channel_test, the_protocol_is_offered_and_bytes_go_both_ways) {
  const auto id = open({}, "first");
  ASSERT_TRUE(says_until([&] { return received(id) == "first"; }));
  EXPECT_EQ(peer_->setting(NGHTTP2_SETTINGS_ENABLE_CONNECT_PROTOCOL), 1U);
  EXPECT_EQ(peer_->of(id).status, 200);
  const auto& fields = peer_->of(id).headers;
  EXPECT_FALSE(proto::find_field(fields, "sec-websocket-accept"));
  EXPECT_FALSE(proto::find_field(fields, "content-length"));
  EXPECT_FALSE(proto::find_field(fields, "sec-websocket-protocol"));
  for (const std::string_view each : {"second", "third"}) {
    const auto before = received(id).size();
    peer_->say(id, each);
    ASSERT_TRUE(says_until([&] { return received(id).size() == before + each.size(); }));
  }
  EXPECT_EQ(received(id), "firstsecondthird");
  peer_->end(id);
  ASSERT_TRUE(says_until([&] { return is_closed(id); }));
  EXPECT_EQ(ends_, "e");
  EXPECT_EQ(peer_->of(id).code, NGHTTP2_NO_ERROR);
}

TEST_P(http2_channel_test, what_is_agreed_on_is_said) {
  const auto id = open({{"sec-websocket-protocol", "talk, chat"},
                        {"sec-websocket-extensions", "permessage-deflate"}},
                       "hello");
  ASSERT_TRUE(says_until([&] { return received(id) == "hello"; }));
  const auto& fields = peer_->of(id).headers;
  EXPECT_EQ(proto::find_field(fields, "sec-websocket-protocol"), "chat");
  EXPECT_TRUE(proto::find_field(fields, "sec-websocket-extensions")
                  .value_or("")
                  .starts_with("permessage-deflate"));
}

TEST_P(http2_channel_test, what_is_no_opening_is_refused_and_the_rest_goes_on) {
  const auto other = peer_->connect("connect-udp");
  const auto version = peer_->connect("websocket", {{"sec-websocket-version", "12"}});
  const auto none = peer_->connect("websocket");
  const auto page = open({{"origin", "https://elsewhere.example"}});
  const auto deflate = open({{"sec-websocket-extensions", "permessage-deflate; what"}});
  const auto twice = open({{"sec-websocket-protocol", "chat, chat"}});
  const auto own = open({{"origin", "https://test"}});
  peer_->say(own, "hello");
  for (const auto each : {other, version, none, page, deflate, twice}) peer_->end(each);
  ASSERT_TRUE(says_until([&] {
    return received(own) == "hello" &&
           std::ranges::all_of(std::array{other, version, none, page, deflate, twice},
                               [&](auto each) { return is_closed(each); });
  }));
  EXPECT_EQ(peer_->of(other).status, 501);
  EXPECT_NE(received(other).find("connect-udp"), std::string::npos) << received(other);
  EXPECT_EQ(peer_->of(version).status, 400);
  EXPECT_EQ(proto::find_field(peer_->of(version).headers, "sec-websocket-version"), "13");
  EXPECT_EQ(peer_->of(none).status, 400);
  EXPECT_EQ(peer_->of(page).status, 403);
  EXPECT_EQ(peer_->of(twice).status, 400);
  EXPECT_EQ(peer_->of(own).status, 200);
  EXPECT_EQ(peer_->of(deflate).status, 200);  // without it: RFC 7692 section 5.1
}

TEST_P(http2_channel_test, an_opening_that_is_cut_anywhere_opens_all_the_same) {
  open({}, "hello");
  const auto whole = peer_->take();
  for (std::size_t cut = 1; cut < whole.size(); ++cut) {
    connect();
    const auto id = open({}, "hello");
    const auto said = peer_->take();
    ASSERT_EQ(said, whole);
    says_nothing_ = true;
    wire_->push_copy(as_bytes(said.substr(0, cut)));
    run_turns(3);
    wire_->push_copy(as_bytes(said.substr(cut)));
    says_nothing_ = false;
    ASSERT_TRUE(run_until([&] { return received(id) == "hello"; })) << "cut at " << cut;
  }
}

TEST_P(http2_channel_test, an_opening_that_lacks_something_is_reset) {
  const proto::http_fields whole = {{":method", "CONNECT"}, {":protocol", "websocket"},
                                    {":scheme", "http"},    {":path", "/"},
                                    {":authority", "test"}, {"sec-websocket-version", "13"}};
  for (const std::string_view lacking : {":method", ":scheme", ":path", ":authority"}) {
    auto fields = whole;
    std::erase_if(fields, [&](const auto& each) { return each.first == lacking; });
    const auto id = peer_->ask_with(std::move(fields), {}, true);
    ASSERT_TRUE(says_until([&] { return is_closed(id); })) << lacking;
    EXPECT_EQ(peer_->of(id).code, NGHTTP2_PROTOCOL_ERROR) << lacking;
  }
  auto fields = whole;
  fields.front().second = "GET";
  const auto with_get = peer_->ask_with(std::move(fields), {}, true);
  const auto right = peer_->ask_with(whole, "hello", true);
  ASSERT_TRUE(says_until([&] { return is_closed(with_get) && received(right) == "hello"; }));
  EXPECT_EQ(peer_->of(with_get).code, NGHTTP2_PROTOCOL_ERROR);
}

TEST_P(http2_channel_test, an_opening_that_ends_at_once_ends) {
  const auto id =
      peer_->ask("CONNECT", "/", {{":protocol", "websocket"}, {"sec-websocket-version", "13"}});
  ASSERT_TRUE(says_until([&] { return is_closed(id); }));
  EXPECT_EQ(peer_->of(id).status, 200);
  EXPECT_EQ(ends_, "e");
}

TEST_P(http2_channel_test, a_reset_ends_it_and_no_other) {
  const auto id = open({}, "some");
  const auto other = open({}, "other");
  ASSERT_TRUE(says_until([&] { return received(id) == "some" && received(other) == "other"; }));
  peer_->reset(id);
  ASSERT_TRUE(says_until([&] { return !ends_.empty(); }));
  EXPECT_EQ(ends_, "r");
  peer_->say(other, "+");
  ASSERT_TRUE(says_until([&] { return received(other) == "other+"; }));
}

TEST_P(http2_channel_test, each_end_of_the_servers_is_told) {
  const auto aborted = open({}, ".");
  ASSERT_TRUE(says_until([&] { return is_closed(aborted); }));
  EXPECT_EQ(peer_->of(aborted).code, NGHTTP2_CANCEL);
  const auto half = open({}, "?");
  ASSERT_TRUE(says_until([&] { return peer_->of(half).status != 0; }));
  peer_->end(half);
  ASSERT_TRUE(says_until([&] { return is_closed(half); }));
  const auto closed = open({}, "!");
  ASSERT_TRUE(says_until([&] { return peer_->of(closed).status != 0 && channel_ == nullptr; }));
  peer_->end(closed);
  ASSERT_TRUE(says_until([&] { return is_closed(closed); }));
  EXPECT_EQ(peer_->of(closed).code, NGHTTP2_NO_ERROR);
  EXPECT_EQ(ends_, "re");
}

TEST_P(http2_channel_test, who_is_not_read_is_held_back_to_a_window) {
  reads_ = false;
  constexpr std::size_t much = 500'000;
  const auto id = open({}, std::string(much, 'x'));
  const auto other = peer_->ask("GET", "/");
  ASSERT_TRUE(says_until([&] { return is_closed(other); }));
  run_turns(50);
  EXPECT_GT(peer_->unsaid(id), much - 70'000);
  reads_ = true;
  ASSERT_TRUE(run_until([&] { return received(id).size() == much; }));
}

TEST_P(http2_channel_test, a_connection_that_goes_takes_it_along) {
  const auto id = open({}, "some");
  ASSERT_TRUE(says_until([&] { return received(id) == "some"; }));
  wire_->abort();
  ASSERT_TRUE(run_until([&] { return wire_ended_; }));
  EXPECT_EQ(ends_, "");  // the handler is still waiting when it is ended
}

TEST_P(http2_channel_test, waits_for_what_is_unsent_end_with_the_channel) {
  const auto id = open({}, "some");
  ASSERT_TRUE(says_until([&] { return received(id) == "some"; }));
  std::string said;
  const auto wait = [&](net::byte_channel& channel) -> loop::task<> {
    const bool is_delivered = co_await channel.delivered(loop_->now() + 10s);
    said += is_delivered ? "delivered" : "gone";
  };
  loop::task_group waiting;
  waiting.spawn(wait(*channel_));
  ASSERT_TRUE(run_until([&] { return said == "delivered"; })) << said;
  channel_->push(loop::slice::copy_of(as_bytes(std::string(1'000'000, 'x'))));
  EXPECT_EQ(channel_->unsent(), 1'000'000U);
  said.clear();
  waiting.spawn(wait(*channel_));
  channel_->abort();
  EXPECT_EQ(channel_->unsent(), 0U);
  EXPECT_NE(channel_->broken(), 0);
  ASSERT_TRUE(run_until([&] { return !said.empty() && is_closed(id); }));
}

INSTANTIATE_TEST_SUITE_P(backends, http2_channel_test,
                         testing::Values("io_uring", "epoll", "simulation"),
                         [](const auto& backend) { return backend.param; });

}  // namespace
}  // namespace strata::http
