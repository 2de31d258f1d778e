#include "nl/link_request.hpp"

#include <arpa/inet.h>
#include <linux/if_ether.h>
#include <linux/if_link.h>
#include <linux/rtnetlink.h>
#include <linux/veth.h>
#include <net/if.h>

#include <array>
#include <cstring>

namespace strata::nl {

namespace {

void put_head(wire::netlink_writer& writer, const ifinfomsg& head) {
  writer.put_header(std::as_bytes(std::span(&head, 1)));
}

ifinfomsg head_for(int index, std::optional<bool> up) {
  ifinfomsg head{.ifi_index = index};
  if (up) {
    head.ifi_change = IFF_UP;
    head.ifi_flags = *up ? IFF_UP : 0;
  }
  return head;
}

void put_map(wire::netlink_writer& writer, std::uint16_t type,
             const std::vector<priority_pair>& pairs) {
  if (pairs.empty()) return;
  writer.open_nest(type);
  for (const auto& each : pairs) {
    const ifla_vlan_qos_mapping pair{each.from, each.to};
    writer.put(IFLA_VLAN_QOS_MAPPING, std::as_bytes(std::span(&pair, 1)));
  }
  writer.close_nest();
}

struct kind_writer {
  wire::netlink_writer& to;
  const new_link& what;

  void operator()(const vlan_kind& kind) const {
    to.put_number(IFLA_VLAN_ID, kind.id);
    // In network byte order, unlike all other numbers here.
    const std::uint16_t protocol = htons(kind.is_service ? ETH_P_8021AD : ETH_P_8021Q);
    to.put_number(IFLA_VLAN_PROTOCOL, protocol);
    put_map(to, IFLA_VLAN_EGRESS_QOS, kind.egress);
    put_map(to, IFLA_VLAN_INGRESS_QOS, kind.ingress);
  }
  void operator()(const veth_kind& kind) const {
    to.open_nest(VETH_INFO_PEER);
    // The kernel cannot fill it in: the link has no other end yet.
    put_head(to, head_for(0, std::nullopt));
    to.put_text(IFLA_IFNAME, kind.peer);
    if (what.mtu) to.put_number(IFLA_MTU, *what.mtu);
    if (kind.peer_namespace >= 0) {
      to.put_number(IFLA_NET_NS_FD, static_cast<std::uint32_t>(kind.peer_namespace));
    }
    to.close_nest();
  }
  void operator()(const bridge_kind& /*kind*/) const {}
  void operator()(const macvlan_kind& kind) const {
    static constexpr std::array modes{MACVLAN_MODE_PRIVATE, MACVLAN_MODE_VEPA, MACVLAN_MODE_BRIDGE,
                                      MACVLAN_MODE_PASSTHRU};
    to.put_number(IFLA_MACVLAN_MODE,
                  static_cast<std::uint32_t>(modes[static_cast<std::size_t>(kind.how)]));
  }
};

std::optional<int> parent_of(const link_kind& kind) {
  if (const auto* const vlan = std::get_if<vlan_kind>(&kind)) return vlan->parent;
  if (const auto* const macvlan = std::get_if<macvlan_kind>(&kind)) return macvlan->parent;
  return std::nullopt;
}

std::vector<priority_pair> map_in(const wire::netlink_attributes& nest) {
  std::vector<priority_pair> pairs;
  for (const auto& each : nest) {
    ifla_vlan_qos_mapping pair{};
    if (each.type() != IFLA_VLAN_QOS_MAPPING || each.value().size() != sizeof pair) continue;
    std::memcpy(&pair, each.value().data(), sizeof pair);
    pairs.push_back({pair.from, pair.to});
  }
  return pairs;
}

}  // namespace

std::string_view name_of(const link_kind& kind) {
  static constexpr std::array<std::string_view, std::variant_size_v<link_kind>> names{
      "vlan", "veth", "bridge", "macvlan"};
  return names[kind.index()];
}

void write_new_link(wire::netlink_writer& writer, const new_link& link) {
  using namespace wire::netlink_flag;
  writer.begin(RTM_NEWLINK, request | ack | create | exclusive);
  put_head(writer, head_for(0, link.up ? std::optional(true) : std::nullopt));
  writer.put_text(IFLA_IFNAME, link.name);
  if (const auto parent = parent_of(link.kind)) writer.put_number(IFLA_LINK, *parent);
  if (link.mtu) writer.put_number(IFLA_MTU, *link.mtu);
  if (link.mac) writer.put(IFLA_ADDRESS, link.mac->bytes());
  writer.open_nest(IFLA_LINKINFO).put_text(IFLA_INFO_KIND, name_of(link.kind));
  writer.open_nest(IFLA_INFO_DATA);
  std::visit(kind_writer{writer, link}, link.kind);
  writer.close_nest().close_nest();
}

void write_changes(wire::netlink_writer& writer, int index, const link_changes& changes) {
  using namespace wire::netlink_flag;
  writer.begin(RTM_NEWLINK, request | ack);
  put_head(writer, head_for(index, changes.up));
  if (changes.name) writer.put_text(IFLA_IFNAME, *changes.name);
  if (changes.mtu) writer.put_number(IFLA_MTU, *changes.mtu);
  if (changes.mac) writer.put(IFLA_ADDRESS, changes.mac->bytes());
  if (changes.master) writer.put_number(IFLA_MASTER, *changes.master);
  if (changes.network_namespace) {
    writer.put_number(IFLA_NET_NS_FD, static_cast<std::uint32_t>(*changes.network_namespace));
  }
}

vlan_kind vlan_of(const wire::netlink_attributes& data, int parent) {
  vlan_kind made{.parent = parent};
  if (const auto id = data.find(IFLA_VLAN_ID)) made.id = id->number<std::uint16_t>().value_or(0);
  const auto protocol = data.find(IFLA_VLAN_PROTOCOL);
  made.is_service =
      protocol && protocol->number<std::uint16_t>().value_or(0) == htons(ETH_P_8021AD);
  made.egress = map_in(data.nest(IFLA_VLAN_EGRESS_QOS));
  made.ingress = map_in(data.nest(IFLA_VLAN_INGRESS_QOS));
  return made;
}

}  // namespace strata::nl
