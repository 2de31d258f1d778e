#include "strata/nl/route.hpp"

#include <arpa/inet.h>
#include <linux/if_link.h>
#include <linux/rtnetlink.h>
#include <net/if.h>

#include <algorithm>
#include <array>
#include <cstring>

#include "nl/link_request.hpp"

namespace strata::nl {

namespace {

/// Returns the message's own header; nullopt if the message ends within it.
template <class Header>
std::optional<Header> head_of(const wire::netlink_message& message) {
  const auto payload = message.payload();
  Header made{};
  if (payload.size() < sizeof made) return {};
  std::memcpy(&made, payload.data(), sizeof made);
  return made;
}

/// Returns the link that a message describes completely. Bridges for their ports, and radios for
/// themselves, send messages of the same type with little else in them; a port that leaves its
/// bridge is not a removed link.
std::optional<link> link_of(const wire::netlink_message& message) {
  const auto head = head_of<ifinfomsg>(message);
  if (!head || head->ifi_family != AF_UNSPEC) return {};
  if (!message.attributes(sizeof(ifinfomsg)).find(IFLA_MTU)) return {};
  link made{.index = head->ifi_index, .flags = head->ifi_flags};
  for (const auto& each : message.attributes(sizeof(ifinfomsg))) {
    const auto number = each.number<std::uint32_t>();
    switch (each.type()) {
      case IFLA_IFNAME: made.name = each.text(); break;
      case IFLA_MTU: made.mtu = number.value_or(0); break;
      case IFLA_LINK:
        if (number) made.peer = static_cast<int>(*number);
        break;
      case IFLA_NUM_RX_QUEUES: made.rx_queues = number.value_or(1); break;
      case IFLA_NUM_TX_QUEUES: made.tx_queues = number.value_or(1); break;
      case IFLA_ADDRESS:
        if (each.value().size() == mac_address::size) {
          made.mac = mac_address(each.value().first<mac_address::size>());
        }
        break;
      case IFLA_MASTER:
        if (number) made.master = static_cast<int>(*number);
        break;
      case IFLA_LINKINFO: {
        const wire::netlink_attributes info(each.value());
        if (const auto kind = info.find(IFLA_INFO_KIND)) made.kind = kind->text();
        if (made.kind == "vlan") made.vlan = vlan_of(info.nest(IFLA_INFO_DATA), 0);
        break;
      }
      default: break;
    }
  }
  if (made.vlan) made.vlan->parent = made.peer.value_or(0);
  return made;
}

std::optional<link_address> address_of(const wire::netlink_message& message) {
  const auto head = head_of<ifaddrmsg>(message);
  if (!head || (head->ifa_family != AF_INET && head->ifa_family != AF_INET6)) return {};
  link_address made{.interface_index = static_cast<int>(head->ifa_index),
                    .is_v6 = head->ifa_family == AF_INET6,
                    .bytes = {},
                    .prefix = head->ifa_prefixlen};
  const auto attributes = message.attributes(sizeof(ifaddrmsg));
  // IFA_ADDRESS is the other end's address on a point-to-point link.
  auto found = attributes.find(IFA_LOCAL);
  if (!found) found = attributes.find(IFA_ADDRESS);
  const std::size_t size = made.is_v6 ? sizeof(in6_addr) : sizeof(in_addr);
  if (!found || found->value().size() != size) return {};
  made.bytes.assign(found->value().begin(), found->value().end());
  return made;
}

std::optional<route_event> event_of(const wire::netlink_message& message) {
  switch (message.header().type) {
    case RTM_NEWLINK:
      if (auto made = link_of(message)) return link_changed{std::move(*made)};
      return {};
    case RTM_DELLINK:
      if (auto made = link_of(message)) return link_removed{std::move(*made)};
      return {};
    case RTM_NEWADDR:
      if (auto made = address_of(message)) return address_added{std::move(*made)};
      return {};
    case RTM_DELADDR:
      if (auto made = address_of(message)) return address_removed{std::move(*made)};
      return {};
    default: return {};
  }
}

template <class Header>
wire::netlink_writer& begin(wire::netlink_writer& writer, std::uint16_t type, std::uint16_t flags,
                            const Header& head) {
  return writer.begin(type, wire::netlink_flag::request | flags)
      .put_header(std::as_bytes(std::span(&head, 1)));
}

}  // namespace

bool link::is_up() const { return (flags & IFF_UP) != 0; }
bool link::is_running() const { return is_up() && (flags & IFF_RUNNING) != 0; }

std::string link_address::text() const {
  std::array<char, INET6_ADDRSTRLEN> text{};
  ::inet_ntop(is_v6 ? AF_INET6 : AF_INET, bytes.data(), text.data(), text.size());
  return text.data() + ("/" + std::to_string(prefix));
}

result<route> route::open(connection_options options) {
  options.family_header = sizeof(ifinfomsg);
  auto made = connection::open(NETLINK_ROUTE, options);
  if (!made) return std::unexpected(made.error());
  return route(std::move(*made));
}

result<std::vector<link>> route::links() {
  std::vector<link> all;
  auto request = over_.request();
  begin(request, RTM_GETLINK, wire::netlink_flag::dump, ifinfomsg{});
  auto done = over_.dump(request, "list the network interfaces", [&](const auto& each) {
    if (auto made = link_of(each)) all.push_back(std::move(*made));
  });
  if (!done) return std::unexpected(done.error());
  std::ranges::sort(all, {}, &link::index);
  return all;
}

result<link> route::link_named(std::string_view name) {
  const auto what = "find interface '" + std::string(name) + "'";
  auto request = over_.request();
  begin(request, RTM_GETLINK, 0, ifinfomsg{}).put_text(IFLA_IFNAME, name);
  return ask_for(request, what);
}

result<link> route::link_at(int index) {
  auto request = over_.request();
  begin(request, RTM_GETLINK, 0, ifinfomsg{.ifi_index = index});
  return ask_for(request, "find interface " + std::to_string(index));
}

result<link> route::ask_for(wire::netlink_writer& request, std::string_view operation) {
  const auto reply = over_.ask(request, operation);
  if (!reply) return std::unexpected(reply.error());
  if (auto made = link_of(*reply)) return std::move(*made);
  return failure(errc::malformed, std::string(operation), "the kernel's reply is truncated");
}

result<std::vector<link_address>> route::addresses() {
  std::vector<link_address> all;
  auto request = over_.request();
  begin(request, RTM_GETADDR, wire::netlink_flag::dump, ifaddrmsg{});
  auto done =
      over_.dump(request, "list the addresses of network interfaces", [&](const auto& each) {
        if (auto made = address_of(each)) all.push_back(std::move(*made));
      });
  if (!done) return std::unexpected(done.error());
  return all;
}

result<route_watch> route_watch::open(subject subject, const connection_options& options) {
  auto made = connection::open(NETLINK_ROUTE, options);
  if (!made) return std::unexpected(made.error());
  static constexpr std::array groups{RTNLGRP_LINK, RTNLGRP_IPV4_IFADDR, RTNLGRP_IPV6_IFADDR};
  for (const auto group : std::span(groups).first(subject == subject::links ? 1 : groups.size())) {
    if (auto joined = made->join(group); !joined) return std::unexpected(joined.error());
  }
  return route_watch(std::move(*made));
}

result<std::optional<route_event>> route_watch::try_event() {
  for (;;) {
    const auto message = over_.try_event();
    if (!message) return std::unexpected(message.error());
    if (!*message) return std::nullopt;
    if (auto event = event_of(**message)) return event;
  }
}

}  // namespace strata::nl
