#include <fcntl.h>
#include <gtest/gtest.h>
#include <linux/if_link.h>
#include <linux/rtnetlink.h>
#include <sched.h>

#include <algorithm>
#include <array>

#include "l2/veth_test.hpp"
#include "nl/link_request.hpp"

namespace strata::nl {
namespace {

using l2::run_command;

class route_changes_test : public l2::veth_test {
 protected:
  static route open() {
    auto made = route::open();
    if (!made) throw std::runtime_error(describe(made.error()));
    return std::move(*made);
  }
  static std::vector<std::string> addresses_of(route& route, int index) {
    std::vector<std::string> texts;
    const auto all = route.addresses();
    for (const auto& each : all.value()) {
      if (each.interface_index == index) texts.push_back(each.text());
    }
    return texts;
  }
};

TEST_F(route_changes_test, a_veth_is_made_with_all_that_was_asked_for) {
  auto on = open();
  const auto mac = mac_address::from_text("02:00:00:00:00:01").value();
  const auto made = on.add_link(
      {.name = "left", .kind = veth_kind{"right"}, .mtu = 1400, .mac = mac, .up = true});
  ASSERT_TRUE(made) << describe(made.error());
  EXPECT_EQ(made->name, "left");
  EXPECT_EQ(made->kind, "veth");
  EXPECT_EQ(made->mtu, 1400U);
  EXPECT_EQ(made->mac, mac);
  EXPECT_TRUE(made->is_up());
  const auto peer = on.link_named("right");
  ASSERT_TRUE(peer);
  EXPECT_EQ(peer->mtu, 1400U);
  EXPECT_EQ(made->peer, peer->index);
  EXPECT_FALSE(peer->is_up());
  const auto again = on.add_link({.name = "left", .kind = bridge_kind{}});
  ASSERT_FALSE(again);
  EXPECT_EQ(again.error().code, errc::already_exists);
}

TEST_F(route_changes_test, the_other_end_of_a_veth_may_be_elsewhere) {
  const unique_fd here(::open("/proc/thread-self/ns/net", O_RDONLY | O_CLOEXEC));
  ASSERT_EQ(::unshare(CLONE_NEWNET), 0);
  const unique_fd there(::open("/proc/thread-self/ns/net", O_RDONLY | O_CLOEXEC));
  auto on_there = open();
  ASSERT_EQ(::setns(here.get(), CLONE_NEWNET), 0);
  auto on = open();
  const auto made = on.add_link({.name = "left", .kind = veth_kind{"right", there.get()}});
  ASSERT_TRUE(made) << describe(made.error());
  EXPECT_FALSE(on.link_named("right"));
  EXPECT_TRUE(on_there.link_named("right"));
  EXPECT_TRUE(on.set_link(made->index, {.network_namespace = there.get()}));
  EXPECT_FALSE(on.link_named("left"));
  EXPECT_TRUE(on_there.link_named("left"));
}

TEST_F(route_changes_test, a_link_changes_its_name_mtu_mac_state_and_bridge) {
  auto on = open();
  const auto index = on.link_named("vethA").value().index;
  const auto bridge = on.add_link({.name = "br0", .kind = bridge_kind{}, .up = true});
  ASSERT_TRUE(bridge) << describe(bridge.error());
  const auto mac = mac_address::from_text("02:00:00:00:00:02").value();
  const auto done = on.set_link(index, {.mtu = 1300, .up = false, .mac = mac});
  ASSERT_TRUE(done) << describe(done.error());
  ASSERT_TRUE(on.set_link(index, {.name = "plc0", .master = bridge->index}));
  auto now = on.link_named("plc0").value();
  EXPECT_EQ(now.index, index);
  EXPECT_EQ(now.mtu, 1300U);
  EXPECT_EQ(now.mac, mac);
  EXPECT_FALSE(now.is_up());
  EXPECT_EQ(now.master, bridge->index);
  ASSERT_TRUE(on.set_link(index, {.up = true, .master = 0}));
  now = on.link_at(index).value();
  EXPECT_TRUE(now.is_up());
  EXPECT_FALSE(now.master);
  ASSERT_TRUE(on.remove_link(bridge->index));
  EXPECT_EQ(on.link_at(bridge->index).error().code, errc::not_found);
}

TEST_F(route_changes_test, what_the_kernel_says_of_a_refusal_is_kept) {
  auto on = open();
  const auto index = on.link_named("vethA").value().index;
  const auto refused = on.set_link(index, {.mtu = 20});
  ASSERT_FALSE(refused);
  EXPECT_EQ(refused.error().code, errc::invalid_argument);
  EXPECT_EQ(refused.error().reason, "mtu less than device minimum");
  EXPECT_TRUE(refused.error().operation.contains("'vethA'")) << refused.error().operation;
  EXPECT_EQ(on.set_link(2000000000, {.mtu = 1500}).error().code, errc::not_found);
  EXPECT_EQ(on.remove_link(2000000000).error().code, errc::not_found);
  const auto lo = on.remove_link(on.link_named("lo").value().index);
  ASSERT_FALSE(lo);
  EXPECT_EQ(lo.error().code, errc::not_supported);
}

TEST_F(route_changes_test, addresses_come_and_go) {
  auto on = open();
  const auto index = on.link_named("vethA").value().index;
  const auto v4 = link_address::from_text(index, "192.0.2.7/24").value();
  const auto v6 = link_address::from_text(index, "2001:db8::7/64").value();
  ASSERT_TRUE(on.add_address(v4));
  EXPECT_EQ(addresses_of(on, index), std::vector<std::string>{"192.0.2.7/24"});
  EXPECT_EQ(on.add_address(v4).error().code, errc::already_exists);
  ASSERT_TRUE(on.remove_address(v4));
  EXPECT_EQ(on.remove_address(v4).error().code, errc::not_found);
  run_command("sysctl -qw net.ipv6.conf.vethA.disable_ipv6=0");
  ASSERT_TRUE(on.add_address(v6));
  const auto now = addresses_of(on, index);
  EXPECT_NE(std::ranges::find(now, "2001:db8::7/64"), now.end());
}

// Not every kernel has VLAN devices; tests/guest/test_tsn.py creates one where they exist.
TEST_F(route_changes_test, a_kernel_without_vlan_devices_is_told_in_a_sentence) {
  auto on = open();
  const auto parent = on.link_named("vethA").value().index;
  const auto made = on.add_link({.name = "plc0", .kind = vlan_kind{.parent = parent, .id = 10}});
  if (made) {
    EXPECT_EQ(made->kind, "vlan");
    ASSERT_TRUE(made->vlan);
    EXPECT_EQ(made->vlan->id, 10);
    EXPECT_EQ(made->vlan->parent, parent);
    return;
  }
  EXPECT_EQ(made.error().code, errc::not_supported);
  EXPECT_TRUE(describe(made.error())
                  .starts_with("cannot create the vlan interface 'plc0': this kernel does "
                               "not support interfaces of the kind 'vlan'"))
      << describe(made.error());
}

TEST(link_request_test, a_vlan_device_is_asked_for_with_its_number_and_its_priorities) {
  std::array<std::byte, 512> memory{};
  wire::netlink_writer to(memory);
  const vlan_kind kind{
      .parent = 3, .id = 10, .is_service = true, .egress = {{0, 7}, {4, 2}}, .ingress = {{7, 1}}};
  write_new_link(to, {.name = "plc0", .kind = kind, .mtu = 1400});
  const auto bytes = to.bytes();
  ASSERT_TRUE(bytes);
  const auto message = wire::netlink_message::parse(*bytes);
  ASSERT_TRUE(message);
  EXPECT_EQ(message->header().type, RTM_NEWLINK);
  EXPECT_EQ(message->header().flags, NLM_F_REQUEST | NLM_F_ACK | NLM_F_CREATE | NLM_F_EXCL);
  const auto all = message->attributes(sizeof(ifinfomsg));
  EXPECT_EQ(all.find(IFLA_IFNAME)->text(), "plc0");
  EXPECT_EQ(all.find(IFLA_LINK)->number<std::uint32_t>(), 3U);
  EXPECT_EQ(all.find(IFLA_MTU)->number<std::uint32_t>(), 1400U);
  const auto info = all.nest(IFLA_LINKINFO);
  EXPECT_EQ(info.find(IFLA_INFO_KIND)->text(), "vlan");
  const auto data = info.nest(IFLA_INFO_DATA);
  const auto protocol = data.find(IFLA_VLAN_PROTOCOL)->value();
  EXPECT_EQ(protocol[0], std::byte{0x88});
  EXPECT_EQ(protocol[1], std::byte{0xA8});
  // As the kernel reports an existing device.
  EXPECT_EQ(vlan_of(data, 3), kind);
}

TEST(link_address_test, is_read_from_text) {
  EXPECT_EQ(link_address::from_text(1, "10.0.0.1")->text(), "10.0.0.1/32");
  EXPECT_EQ(link_address::from_text(1, "fd00::1/64")->text(), "fd00::1/64");
  for (const auto* const wrong : {"", "10.0.0", "10.0.0.1/", "10.0.0.1/33", "10.0.0.1/x",
                                  "fd00::1/129", "10.0.0.1/24 ", "/24", "host/24"}) {
    const auto read = link_address::from_text(1, wrong);
    ASSERT_FALSE(read) << wrong;
    EXPECT_EQ(read.error().code, errc::invalid_argument) << wrong;
  }
}

}  // namespace
}  // namespace strata::nl
