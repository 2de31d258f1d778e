// RFC 6455 and RFC 7692 on the client's side, against a scripted server, on every backend.
#include "http/websocket_port.hpp"

#include <gtest/gtest.h>

#include <set>

#include "net/testing/backend_stage.hpp"
#include "net/tls/digest.hpp"
#include "proto/websocket/testing/websocket_bytes.hpp"
#include "proto/websocket/websocket_handshake.hpp"

namespace strata::http {
namespace {

using proto::http_fields;
using proto::websocket_role;
using std::literals::operator""sv;

/// A frame as on the wire, but with its payload unmasked.
struct raw_frame {
  unsigned first = 0;
  std::optional<proto::websocket_mask> mask;
  std::string payload;
};

/// Removes whole frames of less than 64 KiB from the beginning of the text.
std::vector<raw_frame> take_frames(std::string& text) {
  std::vector<raw_frame> frames;
  const auto at = [&](std::size_t i) { return static_cast<unsigned char>(text[i]); };
  while (text.size() >= 2) {
    const bool is_masked = at(1) >= 0x80;
    const bool is_long = (at(1) & 0x7FU) == 126;
    const std::size_t head = (is_long ? 4U : 2U) + (is_masked ? 4U : 0U);
    if (text.size() < head) break;
    const std::size_t size = is_long ? at(2) * 256U + at(3) : at(1) & 0x7FU;
    if (text.size() < head + size) break;
    raw_frame made{.first = at(0), .mask = {}, .payload = text.substr(head, size)};
    if (is_masked) {
      std::ranges::copy(as_bytes(text).subspan(head - 4, 4), made.mask.emplace().begin());
      proto::apply_mask(std::as_writable_bytes(std::span(made.payload)), *made.mask);
    }
    text.erase(0, head + size);
    frames.push_back(std::move(made));
  }
  return frames;
}

std::string from_server(unsigned first, std::string_view payload = {}) {
  return proto::testing::frame(websocket_role::server, first, payload);
}

class websocket_port_test : public net::backend_stage {
 protected:
  /// Sends the request, and waits until the server has all of it.
  void ask(const websocket_wishes& wishes = {}, std::string_view url = "ws://there.test/") {
    receiving_.cancel();
    serving_.cancel();
    port_.reset();
    answered_.reset();
    received_.clear();
    closed_ = false;
    auto [client, server] = connected_pair();
    server_ = std::move(server);
    serving_.spawn(read_all(*server_, received_, closed_));
    receiving_.spawn(connect(std::move(client), *net::parse_endpoint(url), wishes));
    ASSERT_TRUE(run_until([&] { return received_.ends_with("\r\n\r\n"); })) << received_;
    proto::http_request_parser parser;
    auto got = parser.feed(as_bytes(std::exchange(received_, {})));
    ASSERT_TRUE(got && *got);
    request_ = std::move(**got);
  }
  [[nodiscard]] http_fields good_answer() const {
    const auto text = proto::websocket_accept_text(*request_.header("sec-websocket-key"));
    return {{"Upgrade", "websocket"},
            {"Connection", "Upgrade"},
            {"Sec-WebSocket-Accept", proto::websocket_accept(net::sha1(as_bytes(text)))}};
  }
  /// Whether that answer opens the WebSocket.
  bool answer(int status, const http_fields& fields) {
    server_->push_copy(as_bytes(proto::http_response_head_text(status, fields)));
    EXPECT_TRUE(run_until([&] { return answered_.has_value(); }));
    return answered_.value_or(false);
  }
  void open(const websocket_wishes& wishes = {}, std::string_view extensions = {}) {
    ask(wishes);
    auto fields = good_answer();
    if (!extensions.empty()) fields.emplace_back("Sec-WebSocket-Extensions", extensions);
    ASSERT_TRUE(answer(101, fields));
    receiving_.spawn(receive());
  }

  /// The next frames from the client, once there are that many.
  std::vector<raw_frame> next_message(std::size_t count) {
    std::vector<raw_frame> frames;
    EXPECT_TRUE(run_until([&] {
      std::ranges::move(take_frames(received_), std::back_inserter(frames));
      return frames.size() >= count;
    })) << frames.size();
    frames.resize(std::max(count, frames.size()));
    return frames;
  }
  void say(std::string_view bytes) { server_->push_copy(as_bytes(bytes)); }
  /// Passes the frames of a message to the server's reader.
  std::string payload_of(std::string_view message) {
    EXPECT_TRUE(port_->offer(as_bytes(message)));
    return next_message(1)[0].payload;
  }
  /// Expects that the client sends nothing more, and ends the connection after the server.
  void expect_end() {
    server_->end();
    EXPECT_TRUE(run_until([&] { return ended_.has_value(); }));
    port_.reset();
    EXPECT_TRUE(run_until([&] { return closed_; }));
    EXPECT_EQ(received_, "");
  }

  proto::http_request request_;
  std::unique_ptr<net::message_port> port_;
  std::unique_ptr<net::stream> server_;
  std::string received_;
  bool closed_ = false;
  std::vector<std::string> messages_;
  std::optional<error> ended_;

 private:
  loop::task<> connect(std::unique_ptr<net::stream> stream, net::endpoint_url url,
                       websocket_wishes wishes) {
    auto made = co_await connect_websocket(*loop_, std::move(stream), std::move(url),
                                           std::move(wishes), loop::time_point::max());
    if (made) port_ = std::move(*made);
    answered_ = made.has_value();
  }
  loop::task<> receive() {
    ended_.reset();
    messages_.clear();
    net::message_port::receiver receiver{
        .on_bytes = [](std::size_t) {},
        .on_message = [this](byte_span message) { messages_.emplace_back(as_text(message)); },
        .on_trouble = {},
        .on_notice = {}};
    ended_ = co_await port_->receive(std::move(receiver));
  }

  std::optional<bool> answered_;
  loop::task_group serving_;
  loop::task_group receiving_;
};

// Section 4.1, points 2 to 10; RFC 9112 sections 3.2 and 3.2.1.
TEST_P(websocket_port_test, the_request_has_what_the_rfc_wants_once) {
  ask({.fields = {{"X-More", "yes"}}, .protocols = {"a", "b"}}, "ws://there.test:81/p/q?r=s");
  EXPECT_EQ(request_.method, "GET");
  EXPECT_EQ(request_.version, 11U);
  EXPECT_EQ(request_.target, "/p/q?r=s");
  const auto key = request_.header("sec-websocket-key");
  ASSERT_TRUE(key);
  EXPECT_TRUE(proto::is_websocket_key(*key)) << *key;
  EXPECT_EQ(request_.headers,
            (http_fields{{"host", "there.test:81"},
                         {"upgrade", "websocket"},
                         {"connection", "Upgrade"},
                         {"sec-websocket-key", std::string(*key)},
                         {"sec-websocket-version", "13"},
                         {"sec-websocket-protocol", "a, b"},
                         {"sec-websocket-extensions", "permessage-deflate; client_max_window_bits"},
                         {"x-more", "yes"}}));
  EXPECT_TRUE(proto::read_websocket_request(request_));
}

TEST_P(websocket_port_test, the_host_and_the_target_are_those_of_the_url) {
  for (const auto& [url, host, target] : {std::tuple{"ws://there.test", "there.test", "/"},
                                          {"ws://there.test:80/", "there.test", "/"},
                                          {"wss://there.test:443/a", "there.test", "/a"},
                                          {"wss://there.test:80", "there.test:80", "/"},
                                          {"ws://[::1]:9000/?a", "[::1]:9000", "/?a"}}) {
    ask({.is_deflated = false}, url);
    EXPECT_EQ(request_.header("host"), host) << url;
    EXPECT_EQ(request_.target, target) << url;
    EXPECT_EQ(request_.header("sec-websocket-extensions"), std::nullopt) << url;
  }
}

// Section 4.1, point 7: the nonce MUST be selected randomly for each connection.
TEST_P(websocket_port_test, each_connection_has_a_key_of_its_own) {
  std::set<std::string, std::less<>> keys;
  for (int i = 0; i < 10; ++i) {
    ask();
    keys.emplace(*request_.header("sec-websocket-key"));
  }
  EXPECT_EQ(keys.size(), 10U);
}

// Section 4.1, points 7 and 10; section 11.3: fields that the request sets itself cannot be added.
TEST(websocket_wishes, what_would_break_the_request_is_refused) {
  for (const auto* name : {"Host", "UPGRADE", "connection", "Sec-WebSocket-Key",
                           "sec-websocket-version", "Content-Length", "Transfer-Encoding"}) {
    EXPECT_FALSE(check_wishes({.fields = {{"A", "b"}, {name, "x"}}})) << name;
  }
  for (const std::vector<std::string>& names :
       {std::vector<std::string>{""}, {"a b"}, {"a,b"}, {"a\r\nb"}, {"gr\xC3\xBC"}, {"a", "a"}}) {
    EXPECT_FALSE(check_wishes({.fields = {}, .protocols = names})) << names[0];
  }
  EXPECT_TRUE(check_wishes({.fields = {{"Origin", "http://x"}}, .protocols = {"a", "A", "b.1"}}));
}

// Section 4.1: the client MUST fail the connection for each of these, so it closes it.
TEST_P(websocket_port_test, an_answer_that_does_not_fit_ends_the_connection) {
  struct row {
    const char* rule;
    int status;
    const char* name;  // of the changed field
    const char* value;
  };
  for (const auto& [rule, status, name, value] : {
           row{"a status that is not 101", 200, "X", ""},
           row{"a redirection", 302, "Location", "ws://there.test/"},
           row{"another Upgrade", 101, "Upgrade", "h2c"},
           row{"another Connection", 101, "Connection", "close"},
           row{"another key's accept", 101, "Sec-WebSocket-Accept", "s3pPLMBiTxaQ9kYGzzhZRbK+xOo="},
           row{"an unknown extension", 101, "Sec-WebSocket-Extensions", "x-foo"},
           row{"a malformed extension", 101, "Sec-WebSocket-Extensions", "permessage-deflate;;"},
           row{"an unasked parameter", 101, "Sec-WebSocket-Extensions", "permessage-deflate; x"},
           row{"an unasked protocol", 101, "Sec-WebSocket-Protocol", "c"},
       }) {
    ask({.protocols = {"a", "b"}});
    auto fields = good_answer();
    std::erase_if(fields, [&](const auto& field) { return field.first == name; });
    fields.emplace_back(name, value);
    EXPECT_FALSE(answer(status, fields)) << rule;
    EXPECT_TRUE(run_until([&] { return closed_; })) << rule;
    EXPECT_EQ(received_, "") << rule;
  }
  ask({.is_deflated = false});
  auto fields = good_answer();
  fields.emplace_back("Sec-WebSocket-Extensions", "permessage-deflate");
  EXPECT_FALSE(answer(101, fields)) << "deflate was not offered";
}

// Sections 5.1, 5.3 and 10.3: all frames of a client are masked, each with its own unpredictable
// key.
TEST_P(websocket_port_test, each_frame_is_masked_by_a_key_of_its_own) {
  open();
  for (int i = 0; i < 100; ++i) EXPECT_TRUE(port_->offer(as_bytes("the same")));
  port_->end();
  std::set<proto::websocket_mask> masks;
  for (const auto& each : next_message(101)) {
    ASSERT_TRUE(each.mask);
    masks.insert(*each.mask);
    if (each.first == 0x88) continue;
    EXPECT_EQ(each.first, 0x81U);
    EXPECT_EQ(each.payload, "the same");
  }
  EXPECT_EQ(masks.size(), 101U);
}

// Section 5.6: a text frame is UTF-8; other messages are sent as binary.
TEST_P(websocket_port_test, what_is_not_utf8_is_sent_as_binary) {
  open();
  EXPECT_TRUE(port_->offer(as_bytes("gr\xC3\xBC\xC3\x9F")));
  EXPECT_TRUE(port_->offer(as_bytes("gr\xC3")));
  const auto frames = next_message(2);
  EXPECT_EQ(frames[0].first, 0x81U);
  EXPECT_EQ(frames[1].first, 0x82U);
}

// Sections 5.5.2 and 5.5.3: a pong repeats the ping's data, between the fragments of a message too.
TEST_P(websocket_port_test, a_ping_is_answered_with_its_own_bytes) {
  open();
  const std::string longest(125, 'p');
  say(from_server(0x89, "a\0b"sv) + from_server(0x01, "be") + from_server(0x89, longest) +
      from_server(0x80, "gun") + from_server(0x8A, "unasked") + from_server(0x89));
  const auto pongs = next_message(3);
  ASSERT_EQ(pongs.size(), 3U) << "none for a pong";
  for (const auto& each : pongs) EXPECT_EQ(each.first, 0x8AU);
  EXPECT_EQ(pongs[0].payload, "a\0b"sv);
  EXPECT_EQ(pongs[1].payload, longest);
  EXPECT_EQ(pongs[2].payload, "");
  EXPECT_EQ(messages_, (std::vector<std::string>{"begun"}));
}

// Section 5.5.2: only a received close ends the duty to answer pings.
TEST_P(websocket_port_test, a_ping_is_answered_behind_a_close_that_was_sent) {
  open();
  port_->end();
  EXPECT_EQ(next_message(1)[0].first, 0x88U);
  say(from_server(0x89, "still?") + from_server(0x88, "\x03\xE8") + from_server(0x89, "late"));
  EXPECT_EQ(next_message(1)[0].payload, "still?");
  expect_end();
}

// Section 5.5.1: a close is answered with a close of the same code.
TEST_P(websocket_port_test, a_close_is_answered_with_its_code) {
  for (const auto code : {"\x03\xE8"sv, "\x10\xE1"sv, ""sv}) {
    open();
    say(from_server(0x88, std::string(code) + (code.empty() ? "" : "a reason")));
    const auto frames = next_message(1);
    EXPECT_EQ(frames[0].first, 0x88U);
    EXPECT_EQ(frames[0].payload, code);
    expect_end();
    EXPECT_EQ(ended_->code, errc::connection_closed);
  }
}

// Sections 5.5.1 and 6.1: no data behind a close, and section 7.1.2: one close.
TEST_P(websocket_port_test, nothing_but_pongs_is_sent_behind_a_close) {
  open();
  EXPECT_TRUE(port_->offer(as_bytes("first")));
  port_->end();
  EXPECT_FALSE(port_->offer(as_bytes("late")));
  port_->end();
  say(from_server(0x81, "crossing") + from_server(0x88, "\x03\xE8"));
  const auto frames = next_message(2);
  ASSERT_EQ(frames.size(), 2U);
  EXPECT_EQ(frames[1].first, 0x88U);
  EXPECT_EQ(frames[1].payload, "\x03\xE8");
  expect_end();
  EXPECT_EQ(messages_, (std::vector<std::string>{"crossing"}));
}

// Section 7.1.7: a protocol error is answered with a close frame, and nothing behind it is read.
TEST_P(websocket_port_test, what_breaks_the_protocol_fails_the_connection) {
  struct row {
    const char* rule;
    std::string bytes;
    std::string_view code;
  };
  const row rows[] = {
      {"5.1: a masked frame", proto::testing::frame(websocket_role::client, 0x81, "a"), "\x03\xEA"},
      {"5.2: a reserved bit", from_server(0xA1, "a"), "\x03\xEA"},
      {"5.2: RSV1 that is not agreed on", from_server(0xC1, "a"), "\x03\xEA"},
      {"5.2: a reserved opcode", from_server(0x83, "a"), "\x03\xEA"},
      {"5.4: a fragment of nothing", from_server(0x80, "a"), "\x03\xEA"},
      {"5.5: a fragmented ping", from_server(0x09, "a"), "\x03\xEA"},
      {"5.5.1: half a code", from_server(0x88, "\x03"), "\x03\xEA"},
      {"7.4.1: 1005 on the wire", from_server(0x88, "\x03\xED"), "\x03\xEA"},
      {"8.1: a text that is not UTF-8", from_server(0x81, "\xFF"), "\x03\xEF"},
      {"10.4: longer than the limit", from_server(0x82, std::string(101, 'a')), "\x03\xF1"},
  };
  for (const auto& [rule, bytes, code] : rows) {
    open({.max_message = 100});
    say(bytes + from_server(0x81, "behind") + from_server(0x89, "ping"));
    const auto frames = next_message(1);
    EXPECT_EQ(frames[0].first, 0x88U) << rule;
    EXPECT_EQ(std::string_view(frames[0].payload).substr(0, 2), code) << rule;
    expect_end();
    EXPECT_TRUE(messages_.empty()) << rule;
  }
}

// RFC 7692 section 6: RSV1 marks compressed messages only, and only if compression was negotiated.
TEST_P(websocket_port_test, messages_are_compressed_where_that_was_agreed_on) {
  const std::string text(1000, 'a');
  open();
  EXPECT_TRUE(port_->offer(as_bytes(text)));
  EXPECT_EQ(next_message(1)[0].first, 0x81U);
  open({}, "permessage-deflate");
  EXPECT_TRUE(port_->offer(as_bytes(text)));
  EXPECT_TRUE(port_->offer(as_bytes("short")));
  say(from_server(0x89, "ping"));
  const auto frames = next_message(3);
  EXPECT_EQ(frames[0].first, 0xC1U);
  EXPECT_LT(frames[0].payload.size(), 50U);
  EXPECT_EQ(frames[1].first, 0x81U);
  EXPECT_EQ(frames[1].payload, "short");
  EXPECT_EQ(frames[2].first, 0x8AU) << "control frames are never compressed";
}

// RFC 7692 section 7.1.1.2: without context takeover no message depends on an earlier one.
TEST_P(websocket_port_test, the_context_is_taken_over_as_agreed_on) {
  std::string text;
  for (int i = 0; i < 100; ++i) text += std::to_string(i * i);
  open({}, "permessage-deflate; client_no_context_takeover");
  const auto first = payload_of(text);
  EXPECT_EQ(payload_of(text), first);
  open({}, "permessage-deflate; server_no_context_takeover");
  EXPECT_EQ(payload_of(text), first);
  EXPECT_LT(payload_of(text).size() * 4, first.size());
}

// RFC 7692 section 7.1.2.2: the window that the server has asked for, or none at all.
TEST_P(websocket_port_test, the_window_is_not_larger_than_agreed_on) {
  std::string half;
  for (int i = 0; half.size() < 2000; ++i) half += std::to_string(i * i);
  const auto text = half + half;
  std::string narrow;
  proto::deflater({.window_bits = 9}).compress(as_bytes(text), narrow);
  open({}, "permessage-deflate; client_max_window_bits=9");
  EXPECT_EQ(payload_of(text), narrow);
  open({}, "permessage-deflate; client_max_window_bits=15");
  EXPECT_LT(payload_of(text).size(), narrow.size());
  open({}, "permessage-deflate; client_max_window_bits=8");
  EXPECT_EQ(payload_of(text), text) << "zlib has no such window";
}

INSTANTIATE_TEST_SUITE_P(backends, websocket_port_test,
                         testing::Values("io_uring", "epoll", "simulation"),
                         [](const auto& backend) { return backend.param; });

}  // namespace
}  // namespace strata::http
