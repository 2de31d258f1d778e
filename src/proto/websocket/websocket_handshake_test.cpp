// RFC 6455 section 4: requirements for a request and a response, and required failures.
#include "proto/websocket/websocket_handshake.hpp"

#include <gtest/gtest.h>

#include <algorithm>

namespace strata::proto {
namespace {

constexpr std::string_view sample_key = "dGhlIHNhbXBsZSBub25jZQ==";
constexpr std::string_view sample_accept = "s3pPLMBiTxaQ9kYGzzhZRbK+xOo=";

http_request good_request() {
  http_request request;
  request.method = "GET";
  request.headers = {{"host", "server.example.com"},
                     {"upgrade", "websocket"},
                     {"connection", "Upgrade"},
                     {"sec-websocket-key", std::string(sample_key)},
                     {"sec-websocket-protocol", "chat, superchat"},
                     {"sec-websocket-version", "13"}};
  return request;
}

void set(http_fields& fields, std::string_view name, std::string_view value) {
  std::ranges::find(fields, name, [](const auto& field) { return field.first; })->second = value;
}
void drop(http_fields& fields, std::string_view name) {
  std::erase_if(fields, [&](const auto& field) { return field.first == name; });
}

/// Returns 0 if the request is valid.
int status_of(const http_request& request) {
  const auto read = read_websocket_request(request);
  return read ? 0 : read.error().status;
}
int status_with(std::string_view name, std::string_view value) {
  auto request = good_request();
  set(request.headers, name, value);
  return status_of(request);
}

http_response_head good_response() {
  return {.status = 101,
          .headers = {{"upgrade", "websocket"},
                      {"connection", "Upgrade"},
                      {"sec-websocket-accept", std::string(sample_accept)},
                      {"sec-websocket-protocol", "chat"}}};
}
bool opens(const http_response_head& response) {
  const std::vector<std::string> offered = {"chat", "superchat"};
  return read_websocket_response(response, sample_accept, offered).has_value();
}
bool opens_with(std::string_view name, std::string_view value) {
  auto response = good_response();
  set(response.headers, name, value);
  return opens(response);
}

// Section 1.3.
TEST(websocket_handshake, reads_the_example_of_the_rfc) {
  const auto read = read_websocket_request(good_request());
  ASSERT_TRUE(read);
  EXPECT_EQ(read->key, sample_key);
  EXPECT_EQ(read->protocols, (std::vector<std::string>{"chat", "superchat"}));
  EXPECT_EQ(websocket_accept_text(read->key),
            "dGhlIHNhbXBsZSBub25jZQ==258EAFA5-E914-47DA-95CA-C5AB0DC85B11");
  constexpr unsigned char hashed[] = {0xb3, 0x7a, 0x4f, 0x2c, 0xc0, 0x62, 0x4f, 0x16, 0x90, 0xf6,
                                      0x46, 0x06, 0xcf, 0x38, 0x59, 0x45, 0xb2, 0xbe, 0xc4, 0xea};
  EXPECT_EQ(websocket_accept(std::as_bytes(std::span(hashed))), sample_accept);
  EXPECT_TRUE(opens(good_response()));
}

// Section 4.2.1, points 1 and 2.
TEST(websocket_handshake, a_request_is_a_get_of_http_1_1_with_one_host) {
  for (const auto* method : {"POST", "HEAD", "get", "CONNECT"}) {
    auto request = good_request();
    request.method = method;
    EXPECT_EQ(status_of(request), 405);
  }
  auto old = good_request();
  old.version = 10;
  EXPECT_EQ(status_of(old), 400);
  auto homeless = good_request();
  drop(homeless.headers, "host");
  EXPECT_EQ(status_of(homeless), 400);
  auto twice = good_request();
  twice.headers.emplace_back("host", "other");
  EXPECT_EQ(status_of(twice), 400);
}

// Section 4.2.1, points 3 and 4: in any case, as one element of a list.
TEST(websocket_handshake, a_request_names_the_upgrade) {
  for (const auto* value : {"WebSocket", "h2c, websocket", "websocket,h2c", " WEBSOCKET\t"}) {
    EXPECT_EQ(status_with("upgrade", value), 0) << value;
  }
  for (const auto* value : {"", "web socket", "websockets", "websocket/13", "h2c", "x-websocket"}) {
    EXPECT_EQ(status_with("upgrade", value), 400) << value;
  }
  for (const auto* value : {"upgrade", "keep-alive, Upgrade", "UPGRADE , close", ",,upgrade,"}) {
    EXPECT_EQ(status_with("connection", value), 0) << value;
  }
  for (const auto* value : {"", "keep-alive", "upgrades", "keep-alive; upgrade", "\"upgrade\""}) {
    EXPECT_EQ(status_with("connection", value), 400) << value;
  }
  auto request = good_request();
  request.headers.emplace_back("connection", "keep-alive");
  EXPECT_EQ(status_of(request), 0) << "several fields are one list";
  EXPECT_TRUE(is_websocket_request(request));
  drop(request.headers, "upgrade");
  EXPECT_FALSE(is_websocket_request(request));
  EXPECT_EQ(status_of(request), 400);
}

// Section 4.2.1, point 5: base64 of 16 bytes. Section 11.3.1: it MUST NOT come twice.
TEST(websocket_handshake, a_key_is_16_bytes_in_base64) {
  EXPECT_EQ(status_with("sec-websocket-key", "AAAAAAAAAAAAAAAAAAAAAA=="), 0);
  for (const auto* key :
       {"", "AAAA", "AAAAAAAAAAAAAAAAAAAAAA",
        "AAAAAAAAAAAAAAAAAAAAAAA=", "AAAAAAAAAAAAAAAAAAAAAAAA",
        "AAAAAAAAAAAAAAAAAAAAAB==", "AAAAAAAAAAAAAAAAAAAA-_==", "AAAAAAAAAAAAAAAAAAAAAA== x",
        "AAAAAAAAAAAAAAAAAAAA====", "dGhlIHNhbXBsZSBub25jZQ==,"}) {
    EXPECT_EQ(status_with("sec-websocket-key", key), 400) << key;
  }
  auto none = good_request();
  drop(none.headers, "sec-websocket-key");
  EXPECT_EQ(status_of(none), 400);
  auto twice = good_request();
  twice.headers.emplace_back("sec-websocket-key", std::string(sample_key));
  EXPECT_EQ(status_of(twice), 400);
}

// Section 4.4: another version gets 426 and the known version.
TEST(websocket_handshake, another_version_is_told_which_is_known) {
  for (const auto* version : {"", "8", "12", "14", "013", "13.0", "13, 8", "1 3", "+13"}) {
    auto request = good_request();
    set(request.headers, "sec-websocket-version", version);
    const auto read = read_websocket_request(request);
    ASSERT_FALSE(read) << version;
    EXPECT_EQ(read.error().status, 426);
    EXPECT_EQ(find_field(read.error().headers, "Sec-WebSocket-Version"), "13");
  }
  auto none = good_request();
  drop(none.headers, "sec-websocket-version");
  EXPECT_EQ(status_of(none), 426);
  auto twice = good_request();
  twice.headers.emplace_back("sec-websocket-version", "13");
  EXPECT_EQ(status_of(twice), 426);
}

// Section 4.1, point 10: different tokens. Section 4.2.2: one of them or none is chosen.
TEST(websocket_handshake, a_protocol_is_one_that_both_know) {
  for (const auto* list : {"chat, chat", "chat; x", "a b", "\"chat\"", "ch\x80t"}) {
    EXPECT_EQ(status_with("sec-websocket-protocol", list), 400) << list;
  }
  EXPECT_EQ(status_with("sec-websocket-protocol", "chat, Chat"), 0) << "case counts";
  auto split = good_request();
  split.headers.emplace_back("sec-websocket-protocol", "third");
  EXPECT_EQ(read_websocket_request(split)->protocols.size(), 3U);
  const std::vector<std::string> offered = {"a", "b", "c"};
  EXPECT_EQ(choose_websocket_protocol(offered, std::vector<std::string>{"c", "b"}), "b");
  EXPECT_EQ(choose_websocket_protocol(offered, std::vector<std::string>{"B"}), std::nullopt);
  EXPECT_EQ(choose_websocket_protocol({}, offered), std::nullopt);
}

TEST(websocket_handshake, extensions_of_several_fields_are_one_list) {
  auto request = good_request();
  EXPECT_EQ(read_websocket_request(request)->extensions, "");
  request.headers.emplace_back("sec-websocket-extensions", "foo");
  request.headers.emplace_back("sec-websocket-extensions", "bar; baz=2");
  EXPECT_EQ(read_websocket_request(request)->extensions, "foo, bar; baz=2");
}

// Section 9.1: a header outside the grammar MUST fail the connection, known or not.
TEST(websocket_handshake, a_request_with_malformed_extensions_is_refused) {
  for (const auto* header : {"a b", "permessage-deflate;", "x; y=", ",", "a; b=\"c d\""}) {
    auto request = good_request();
    request.headers.emplace_back("sec-websocket-extensions", header);
    EXPECT_EQ(status_of(request), 400) << header;
  }
  auto request = good_request();
  request.headers.emplace_back("sec-websocket-extensions", "unknown; x=\"y\", other");
  EXPECT_EQ(status_of(request), 0);
}

// RFC 9112 section 6.3: a body would be read as frames.
TEST(websocket_handshake, a_request_with_a_body_is_refused) {
  for (const auto& [name, value, status] : {std::tuple{"content-length", "5", 400},
                                            {"content-length", "005", 400},
                                            {"transfer-encoding", "chunked", 400},
                                            {"content-length", "0", 0}}) {
    auto request = good_request();
    request.headers.emplace_back(name, value);
    EXPECT_EQ(status_of(request), status) << name << value;
  }
}

// Section 4.1: the client MUST fail the connection for each of these.
TEST(websocket_handshake, a_client_refuses_a_response_that_does_not_fit) {
  for (const int status : {100, 200, 301, 400, 401, 426}) {
    auto response = good_response();
    response.status = status;
    EXPECT_FALSE(opens(response)) << status;
  }
  for (const auto* name : {"upgrade", "connection", "sec-websocket-accept"}) {
    auto response = good_response();
    drop(response.headers, name);
    EXPECT_FALSE(opens(response)) << name;
  }
  EXPECT_TRUE(opens_with("upgrade", "WebSocket"));
  EXPECT_FALSE(opens_with("upgrade", "h2c"));
  EXPECT_TRUE(opens_with("connection", "keep-alive, upgrade"));
  EXPECT_FALSE(opens_with("connection", "close"));
  EXPECT_TRUE(opens_with("sec-websocket-accept", " s3pPLMBiTxaQ9kYGzzhZRbK+xOo= "));
  EXPECT_FALSE(opens_with("sec-websocket-accept", "S3pPLMBiTxaQ9kYGzzhZRbK+xOo="));
  EXPECT_FALSE(opens_with("sec-websocket-accept", ""));
  auto twice = good_response();
  twice.headers.emplace_back("sec-websocket-accept", std::string(sample_accept));
  EXPECT_FALSE(opens(twice)) << "section 11.3.3";
}

TEST(websocket_handshake, a_client_refuses_a_protocol_that_it_has_not_offered) {
  EXPECT_TRUE(opens_with("sec-websocket-protocol", "superchat"));
  for (const auto* name : {"Chat", "other", "", "chat, superchat"}) {
    EXPECT_FALSE(opens_with("sec-websocket-protocol", name)) << name;
  }
  auto response = good_response();
  EXPECT_FALSE(read_websocket_response(response, sample_accept)) << "none was offered";
  response.headers.emplace_back("sec-websocket-protocol", "chat");
  EXPECT_FALSE(opens(response)) << "twice";
  drop(response.headers, "sec-websocket-protocol");
  EXPECT_TRUE(opens(response)) << "a server need not choose";
}

}  // namespace
}  // namespace strata::proto
