#include "daemon/broker/socket_policy.hpp"

#include <gtest/gtest.h>

namespace strata::daemon {
namespace {

const broker::peer alice{.user = 1000, .groups = {1000, 44}, .process = 1};

xdp::broker_request request(std::string interface_name, std::uint32_t queue,
                            std::optional<std::uint16_t> ethertype) {
  xdp::broker_request what;
  what.interface_name = std::move(interface_name);
  what.queue = queue;
  what.which.ethertype = ethertype;
  return what;
}

TEST(socket_policy, allows_what_a_rule_says_and_nothing_else) {
  const auto policy = socket_policy::parse(
      "# who may what\n"
      "user=1000 iface=eth0 queue=1-2 ethertype=0x88b5   # the plant\n"
      "\n"
      "\tgroup=44  iface=eth1\n"
      "user=1000 group=7 iface=eth2",
      "policy");
  ASSERT_TRUE(policy) << describe(policy.error());
  EXPECT_EQ(policy->rules().size(), 3U);
  EXPECT_TRUE(policy->check(alice, request("eth0", 1, 0x88B5)));
  EXPECT_TRUE(policy->check(alice, request("eth0", 2, 0x88B5)));
  EXPECT_TRUE(policy->check(alice, request("eth1", 9, {})));
  EXPECT_FALSE(policy->check(alice, request("eth0", 0, 0x88B5)));
  EXPECT_FALSE(policy->check(alice, request("eth0", 3, 0x88B5)));
  EXPECT_FALSE(policy->check(alice, request("eth0", 1, 0x88B6)));
  EXPECT_FALSE(policy->check(alice, request("eth0", 1, {})));
  EXPECT_FALSE(policy->check(alice, request("eth2", 0, {}))) << "not of group 7";
  EXPECT_FALSE(
      policy->check({.user = 1001, .groups = {1001}, .process = 1}, request("eth0", 1, 0x88B5)));
  auto sends = request("eth0", 1, {});
  sends.socket.receive_size = 0;
  EXPECT_TRUE(policy->check(alice, sends)) << "what only sends has no filter";
}

TEST(socket_policy, a_rule_about_one_kind_of_socket_says_nothing_of_the_other) {
  const auto policy = socket_policy::parse(
      "user=1000 iface=eth0 socket=xdp\n"
      "user=1000 iface=eth1 ethertype=0x88b5 socket=packet sends=everywhere\n",
      "policy");
  ASSERT_TRUE(policy) << describe(policy.error());
  l2::packet_request packet{.interface_name = "eth1", .filter = {.ethertype = 0x88B5}};
  EXPECT_TRUE(policy->check(alice, packet));
  EXPECT_FALSE(policy->check(alice, request("eth1", 0, 0x88B5)));
  packet.filter.ethertype.reset();
  EXPECT_FALSE(policy->check(alice, packet)) << "every EtherType";
  packet.receives = false;
  EXPECT_TRUE(policy->check(alice, packet)) << "what only sends has no filter";
  packet.interface_name = "eth0";
  EXPECT_FALSE(policy->check(alice, packet));
  EXPECT_TRUE(policy->check(alice, request("eth0", 0, 0x88B5)));
}

TEST(socket_policy, names_the_line_that_it_cannot_read) {
  for (const auto& [line, why] :
       {std::pair{"user=1000", "no interface"},
        {"iface=eth0", "no user and no group"},
        {"user= iface=eth0", "'user=' is not NAME=VALUE"},
        {"user=1 iface=eth0 queue=3-1", "'3-1' is not a queue"},
        {"user=1 iface=eth0 queue=99999999999", "is not a queue"},
        {"user=1 iface=eth0 ethertype=5", "'5' is not an EtherType"},
        {"user=1 iface=eth0 colour=red", "'colour' is not one of"},
        {"user=1 iface=eth0 socket=raw", "'socket=raw' is not"},
        {"user=1 iface=eth0 sends=here", "'sends=here' is not"},
        {"user=1 iface=eth0 socket=packet", "add sends=everywhere"},
        {"user=no-such-user iface=eth0", "no user is named 'no-such-user'"}}) {
    const auto policy = socket_policy::parse("\n" + std::string(line) + "\n", "policy");
    ASSERT_FALSE(policy) << line;
    const auto text = describe(policy.error());
    EXPECT_NE(text.find("line 2"), std::string::npos) << text;
    EXPECT_NE(text.find(why), std::string::npos) << text;
  }
}

}  // namespace
}  // namespace strata::daemon
