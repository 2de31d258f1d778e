#include "runtime/proxy/admission/admission.hpp"

#include <gtest/gtest.h>

namespace strata::runtime::proxy {
namespace {

loop::socket_address from(const std::string& host, std::uint16_t port = 0) {
  return *loop::socket_address::from_ip(host, port);
}

std::string client(const std::vector<std::string>& texts, const std::string& peer = "10.0.0.1") {
  proto::http_request request;
  for (const auto& each : texts) request.headers.emplace_back("x-forwarded-for", each);
  const std::vector<loop::network> trusted = {*loop::network::parse("10.0.0.0/8"),
                                              *loop::network::parse("2001:db8::/32")};
  return client_of(request, from(peer, 7), trusted).text();
}

TEST(admission, the_rightmost_that_is_not_trusted_is_the_client) {
  EXPECT_EQ(client({}), "10.0.0.1:7");
  EXPECT_EQ(client({"192.0.2.1"}), "192.0.2.1:0");
  EXPECT_EQ(client({"192.0.2.9, 192.0.2.1"}), "192.0.2.1:0");
  EXPECT_EQ(client({"192.0.2.9, 192.0.2.1, 10.2.3.4", "2001:db8::1"}), "192.0.2.1:0");
  EXPECT_EQ(client({"10.9.9.9, 10.8.8.8"}), "10.9.9.9:0");
  EXPECT_EQ(client({"192.0.2.1"}, "192.0.2.77"), "192.0.2.77:7");
}

TEST(admission, addresses_may_have_ports) {
  EXPECT_EQ(client({"192.0.2.1:8080"}), "192.0.2.1:0");
  EXPECT_EQ(client({"[2001:db9::1]:80"}), "[2001:db9::1]:0");
  EXPECT_EQ(client({"2001:db9::1"}), "[2001:db9::1]:0");
  EXPECT_EQ(client({"::ffff:192.0.2.1"}), "192.0.2.1:0");
}

TEST(admission, what_is_no_address_is_not_believed) {
  for (const auto* const text : {"", "unknown", "192.0.2.1,", "[", "]", "[]:1", "fe80::1%lo", ":",
                                 "192.0.2.1, _hidden", "256.1.1.1", "1.2.3.4\x00"}) {
    EXPECT_EQ(client({text}), text == std::string("1.2.3.4") ? "1.2.3.4:0" : "10.0.0.1:7") << text;
  }
  EXPECT_EQ(client({"unknown, 10.5.5.5"}), "10.5.5.5:0");
}

TEST(admission, to_deny_wins) {
  admission rules;
  EXPECT_TRUE(rules.is_open());
  proxy_options wanted;
  wanted.allow = {"192.0.2.0/24", "2001:db8::/32"};
  wanted.deny = {"192.0.2.128/25"};
  rules.become(wanted, 1);
  EXPECT_FALSE(rules.is_open());
  EXPECT_TRUE(rules.lets_in(from("192.0.2.1")));
  EXPECT_FALSE(rules.lets_in(from("192.0.2.129")));
  EXPECT_FALSE(rules.lets_in(from("192.0.3.1")));
  EXPECT_TRUE(rules.lets_in(from("2001:db8::1")));
  EXPECT_TRUE(rules.lets_in(*loop::socket_address::from_path("/x")));
  wanted.allow.clear();
  rules.become(wanted, 1);
  EXPECT_TRUE(rules.lets_in(from("192.0.3.1")));
  EXPECT_FALSE(rules.lets_in(from("192.0.2.129")));
}

TEST(admission, loops_share_a_rate) {
  admission rules;
  proxy_options wanted;
  wanted.rate_per_client = 5;
  rules.become(wanted, 2);
  const loop::time_point now(std::chrono::hours(1));
  for (int count = 0; count < 3; ++count) {
    EXPECT_EQ(rules.wait_of(from("192.0.2.1"), now), loop::duration::zero());
  }
  EXPECT_GT(rules.wait_of(from("192.0.2.1"), now), loop::duration::zero());
}

}  // namespace
}  // namespace strata::runtime::proxy
