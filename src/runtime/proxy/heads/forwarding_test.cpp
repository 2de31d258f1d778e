#include "runtime/proxy/heads/forwarding.hpp"

#include <gtest/gtest.h>

namespace strata::runtime::proxy {
namespace {

forwarding plain() {
  return {.client = {}, .pseudonym = "strata-x", .backend_host = "localhost", .websocket_key = {}};
}

proto::http_request asking(std::string target, proto::http_fields fields) {
  proto::http_request made;
  made.method = "GET";
  made.target = std::move(target);
  made.headers = std::move(fields);
  return made;
}

std::string field_of(const forwarded_request& request, std::string_view name) {
  return std::string(proto::find_field(request.fields, name).value_or("(none)"));
}

TEST(forwarding, fields_of_one_connection_stay_on_it) {
  const auto made = forward(asking("/", {{"host", "h"},
                                         {"connection", "close, X-Own"},
                                         {"x-own", "1"},
                                         {"te", "trailers"},
                                         {"transfer-encoding", "chunked"},
                                         {"content-length", "3"},
                                         {"proxy-authorization", "Basic x"},
                                         {"accept", "*/*"}}),
                            plain());
  ASSERT_TRUE(made);
  const proto::http_fields left = {{"host", "h"},
                                   {"accept", "*/*"},
                                   {"x-forwarded-proto", "http"},
                                   {"x-forwarded-host", "h"},
                                   {"via", "1.1 strata-x"}};
  EXPECT_EQ(made->fields, left);
}

TEST(forwarding, targets_become_paths) {
  EXPECT_EQ(forward(asking("http://h/a?b", {{"host", "h"}}), plain())->target, "/a?b");
  EXPECT_EQ(forward(asking("http://h", {{"host", "h"}}), plain())->target, "/");
  EXPECT_EQ(forward(asking("http://h?b=/", {{"host", "h"}}), plain())->target, "/?b=/");
  EXPECT_EQ(forward(asking("/x?u=http://y", {{"host", "h"}}), plain())->target, "/x?u=http://y");
  EXPECT_EQ(forward(asking("*", {{"host", "h"}}), plain())->target, "*");
  auto whole_server = asking("http://h", {{"host", "h"}});
  whole_server.method = "OPTIONS";
  EXPECT_EQ(forward(whole_server, plain())->target, "*");
  whole_server.target = "http://h/";
  EXPECT_EQ(forward(whole_server, plain())->target, "/");
}

TEST(forwarding, fields_that_routes_and_identity_rest_on_are_never_of_one_connection) {
  auto how = plain();
  how.client = "192.0.2.1";
  const auto made = forward(asking("/", {{"host", "h"},
                                         {"connection",
                                          "Host, Cookie, Authorization, "
                                          "X-Forwarded-For, X-Forwarded-Proto, Mine"},
                                         {"cookie", "a=b"},
                                         {"authorization", "Basic eA=="},
                                         {"mine", "1"}}),
                            how);
  EXPECT_EQ(field_of(*made, "host"), "h");
  EXPECT_EQ(field_of(*made, "cookie"), "a=b");
  EXPECT_EQ(field_of(*made, "authorization"), "Basic eA==");
  EXPECT_EQ(field_of(*made, "x-forwarded-for"), "192.0.2.1");
  EXPECT_EQ(field_of(*made, "mine"), "(none)");
}

TEST(forwarding, the_backend_says_whether_the_client_may_go_on) {
  auto asked = asking("/", {{"host", "h"}, {"expect", "100-continue"}});
  EXPECT_EQ(field_of(*forward(asked, plain()), "expect"), "100-continue");
  asked.version = 10;
  EXPECT_EQ(field_of(*forward(asked, plain()), "expect"), "(none)");
}

TEST(forwarding, addresses_of_ipv6_have_brackets_in_forwarded_alone) {
  auto how = plain();
  how.client = "[2001:db8::9]";
  how.says_forwarded = true;
  const auto made = forward(asking("/", {{"host", "h"}}), how);
  EXPECT_EQ(field_of(*made, "x-forwarded-for"), "2001:db8::9");
  EXPECT_EQ(field_of(*made, "forwarded"), "for=\"[2001:db8::9]\";host=h;proto=http");
}

TEST(forwarding, a_target_that_could_end_its_line_is_refused) {
  for (const auto* const target : {"", "/a b", "/a\r\nX: y", "/\x7f", "/\xc3\xa4"}) {
    const auto made = forward(asking(target, {{"host", "h"}}), plain());
    ASSERT_FALSE(made) << target;
    EXPECT_EQ(made.error().status, 400);
  }
}

TEST(forwarding, a_client_is_told_of_behind_those_before_it) {
  auto how = plain();
  how.client = "192.0.2.1";
  const proto::http_fields said = {
      {"host", "h"}, {"x-forwarded-for", "1.1.1.1"}, {"x-forwarded-proto", "https"}};
  EXPECT_EQ(field_of(*forward(asking("/", said), how), "x-forwarded-for"), "192.0.2.1");
  EXPECT_EQ(field_of(*forward(asking("/", said), how), "x-forwarded-proto"), "http");
  how.is_trusted = true;
  EXPECT_EQ(field_of(*forward(asking("/", said), how), "x-forwarded-for"), "1.1.1.1, 192.0.2.1");
  EXPECT_EQ(field_of(*forward(asking("/", said), how), "x-forwarded-proto"), "https");
}

TEST(forwarding, what_comes_round_is_noticed) {
  const auto other = forward(asking("/", {{"host", "h"}, {"via", "1.1 strata-y"}}), plain());
  EXPECT_EQ(field_of(*other, "via"), "1.1 strata-y, 1.1 strata-x");
  const auto own = forward(asking("/", {{"host", "h"}, {"via", "1.1 a, 1.1 strata-x"}}), plain());
  ASSERT_FALSE(own);
  EXPECT_EQ(own.error().status, 508);
}

TEST(forwarding, a_request_for_another_protocol_says_so) {
  const proto::http_fields said = {
      {"host", "h"}, {"connection", "Upgrade"}, {"upgrade", "websocket"}};
  const auto made = forward(asking("/", said), plain());
  EXPECT_EQ(made->upgrade, "websocket");
  EXPECT_EQ(field_of(*made, "connection"), "upgrade");
  EXPECT_EQ(field_of(*made, "upgrade"), "websocket");
  // Without Connection naming it, Upgrade is ignored; and HTTP/2 is not reached by an upgrade.
  EXPECT_EQ(forward(asking("/", {{"host", "h"}, {"upgrade", "websocket"}}), plain())->upgrade, "");
  EXPECT_EQ(
      forward(asking("/", {{"host", "h"}, {"connection", "upgrade"}, {"upgrade", "h2c"}}), plain())
          ->upgrade,
      "");
}

TEST(forwarding, a_websocket_by_http2_becomes_one_by_http1) {
  auto request = asking("/chat", {{"host", "h"}, {"sec-websocket-version", "13"}});
  request.method = "CONNECT";
  EXPECT_EQ(forward(request, plain()).error().status, 501);
  request.protocol = "websocket";
  auto how = plain();
  how.websocket_key = "key";
  const auto made = forward(request, how);
  EXPECT_EQ(made->method, "GET");
  EXPECT_EQ(field_of(*made, "sec-websocket-key"), "key");
}

TEST(forwarding, answers_keep_what_is_for_the_client) {
  const proto::http_fields said = {{"connection", "x-own, upgrade"},
                                   {"upgrade", "websocket"},
                                   {"x-own", "1"},
                                   {"keep-alive", "5"},
                                   {"set-cookie", "a"},
                                   {"set-cookie", "b"}};
  const proto::http_fields kept = {{"set-cookie", "a"}, {"set-cookie", "b"}};
  EXPECT_EQ(answered_fields(said, false), kept);
  auto upgraded = kept;
  upgraded.emplace_back("connection", "upgrade");
  upgraded.emplace_back("upgrade", "websocket");
  EXPECT_EQ(answered_fields(said, true), upgraded);
}

TEST(forwarding, lengths) {
  EXPECT_EQ(length_of({{"content-length", "12"}}), 12U);
  EXPECT_EQ(length_of({{"content-length", "12x"}}), std::nullopt);
  EXPECT_EQ(length_of({{"content-length", "12"}, {"transfer-encoding", "chunked"}}), std::nullopt);
  EXPECT_EQ(length_of({}), std::nullopt);
}

}  // namespace
}  // namespace strata::runtime::proxy
