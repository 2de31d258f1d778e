#include "strata/nl/route.hpp"

#include <gtest/gtest.h>
#include <poll.h>

#include <algorithm>
#include <functional>

#include "l2/veth_test.hpp"

namespace strata::nl {
namespace {

using l2::run_command;

class route_test : public l2::veth_test {
 protected:
  static route open() {
    auto made = route::open();
    if (!made) throw std::runtime_error(describe(made.error()));
    return std::move(*made);
  }
  static route_watch watch() {
    auto made = route_watch::open();
    if (!made) throw std::runtime_error(describe(made.error()));
    return std::move(*made);
  }
  /// Reads events until one is of the kind and `fits` accepts it.
  template <class Kind>
  static bool receives(route_watch& watch, const std::function<bool(const Kind&)>& fits) {
    for (;;) {
      const auto event = watch.try_event();
      if (!event) throw std::runtime_error(describe(event.error()));
      if (!*event) {
        constexpr int patience_ms = 2000;
        pollfd ready{watch.fd(), POLLIN, 0};
        if (::poll(&ready, 1, patience_ms) != 1) return false;
        continue;
      }
      const auto* const found = std::get_if<Kind>(&**event);
      if (found != nullptr && fits(*found)) return true;
    }
  }
};

TEST_F(route_test, links_are_listed_with_what_they_are) {
  auto on = open();
  const auto all = on.links();
  ASSERT_TRUE(all) << describe(all.error());
  const auto a = std::ranges::find(*all, "vethA", &link::name);
  const auto b = std::ranges::find(*all, "vethB", &link::name);
  ASSERT_TRUE(a != all->end() && b != all->end());
  EXPECT_EQ(a->kind, "veth");
  EXPECT_EQ(a->peer, b->index);
  EXPECT_EQ(a->mtu, 1500U);
  EXPECT_TRUE(a->is_up());
  EXPECT_NE(a->mac, b->mac);
  EXPECT_EQ(on.link_named("vethA").value(), *a);
  EXPECT_EQ(on.link_at(a->index).value(), *a);
  EXPECT_EQ(on.link_at(2000000000).error().code, errc::not_found);
  const auto absent = on.link_named("none0");
  ASSERT_FALSE(absent);
  EXPECT_EQ(absent.error().code, errc::not_found);
}

TEST_F(route_test, addresses_are_listed) {
  run_command("ip address add 192.0.2.7/24 dev vethA; ip address add 2001:db8::7/64 dev lo");
  auto on = open();
  const auto all = on.addresses();
  ASSERT_TRUE(all) << describe(all.error());
  std::vector<std::string> texts;
  for (const auto& each : *all) texts.push_back(each.text());
  EXPECT_NE(std::ranges::find(texts, "192.0.2.7/24"), texts.end());
  EXPECT_NE(std::ranges::find(texts, "2001:db8::7/64"), texts.end());
}

TEST_F(route_test, what_happens_to_a_link_is_heard) {
  auto on = watch();
  run_command("ip link set vethA down");
  EXPECT_TRUE(receives<link_changed>(
      on, [](const auto& what) { return what.now.name == "vethA" && !what.now.is_up(); }));
  run_command("ip link set vethA name other");
  EXPECT_TRUE(
      receives<link_changed>(on, [](const auto& what) { return what.now.name == "other"; }));
  run_command("ip link set other mtu 1400");
  EXPECT_TRUE(receives<link_changed>(on, [](const auto& what) { return what.now.mtu == 1400; }));
  run_command("ip link set other up");
  EXPECT_TRUE(receives<link_changed>(
      on, [](const auto& what) { return what.now.name == "other" && what.now.is_running(); }));
  run_command("ip address add 192.0.2.7/24 dev other");
  EXPECT_TRUE(receives<address_added>(
      on, [](const auto& what) { return what.what.text() == "192.0.2.7/24"; }));
  run_command("ip link del other");
  EXPECT_TRUE(
      receives<link_removed>(on, [](const auto& what) { return what.last.name == "other"; }));
}

TEST_F(route_test, a_port_that_leaves_its_bridge_was_not_removed) {
  run_command("ip link add bridge0 type bridge; ip link set vethA master bridge0");
  auto on = watch();
  run_command("ip link set vethA nomaster; ip link set vethA mtu 1400");
  for (bool is_last = false; !is_last;) {
    const auto event = on.try_event();
    ASSERT_TRUE(event && *event) << "the MTU was not heard";
    if (const auto* const removed = std::get_if<link_removed>(&**event)) {
      ADD_FAILURE() << removed->last.name << " was not removed";
    }
    const auto* const changed = std::get_if<link_changed>(&**event);
    is_last = changed != nullptr && changed->now.mtu == 1400;
  }
}

TEST_F(route_test, a_listener_that_is_too_slow_is_told) {
  auto made = route_watch::open(route_watch::subject::links, {.receive_buffer = 8192});
  ASSERT_TRUE(made);
  for (int i = 0; i < 20; ++i) run_command("ip link set vethA down; ip link set vethA up");
  bool is_raw = false;
  for (;;) {
    const auto event = made->try_event();
    if (!event) {
      EXPECT_EQ(event.error().code, errc::limit_exceeded);
      is_raw = true;
      continue;
    }
    if (!*event) break;
  }
  EXPECT_TRUE(is_raw);
  run_command("ip link set vethB down");
  EXPECT_TRUE(receives<link_changed>(
      *made, [](const auto& what) { return what.now.name == "vethB" && !what.now.is_up(); }));
}

}  // namespace
}  // namespace strata::nl
