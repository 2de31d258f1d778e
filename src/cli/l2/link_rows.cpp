// The verbs that create and change links, and their flags.
#include "cli/l2/link_flags.hpp"
#include "cli/l2/rows.hpp"
#include "cli/terminal/listing.hpp"

namespace strata::cli {

namespace {

using enum options::option_kind;
using enum verb_group;

// Flags of a new link and of a change.
option_rows common_link_flags() {
  return {
      {.key = "mtu",
       .kind = count,
       .value_name = "BYTES",
       .help = "MTU of the interface; for a new veth, of both ends",
       .max = 65535,
       .min = 1},
      {.key = "mac", .kind = text, .value_name = "MAC", .help = "MAC address of the interface"},
      {.key = "up", .kind = flag, .help = "bring the interface up"},
      {.key = "address",
       .kind = list,
       .value_name = "IP/BITS",
       .help = "add this IP address, such as 10.0.0.1/24; repeatable"},
      {.key = "master",
       .kind = text,
       .value_name = "BRIDGE",
       .help = "make the interface a port of BRIDGE"},
  };
}

option_rows link_add_flags() {
  option_rows rows{
      {.key = "type",
       .kind = choice,
       .value_name = "KIND",
       .help = "kind of interface to create",
       .choices = "vlan|veth|bridge|macvlan"},
      {.key = "parent",
       .kind = text,
       .value_name = "IFACE",
       .help = "vlan, macvlan: the parent interface"},
      {.key = "vlan",
       .kind = count,
       .value_name = "VID",
       .help = "vlan: number of the VLAN",
       .max = 4094},
      {.key = "egress_prio",
       .kind = list,
       .value_name = "PRIO:PCP",
       .help =
           "vlan: send frames of priority PRIO (SO_PRIORITY) with PCP in their tag; repeatable"},
      {.key = "ingress_prio",
       .kind = list,
       .value_name = "PCP:PRIO",
       .help = "vlan: give received frames with PCP in their tag the priority PRIO; repeatable"},
      {.key = "service", .kind = flag, .help = "vlan: use 802.1ad tags (0x88a8)"},
      {.key = "peer", .kind = text, .value_name = "NAME", .help = "veth: name of the other end"},
      {.key = "peer_netns",
       .kind = text,
       .value_name = "PID|NAME",
       .help = "veth: network namespace of the other end: a process ID or a name from `ip netns`"},
      {.key = "mode",
       .kind = choice,
       .value_name = "HOW",
       .default_text = "bridge",
       .help = "macvlan: how interfaces of the same parent reach each other",
       .choices = "bridge|private|vepa|passthru"},
  };
  for (auto& row : common_link_flags()) rows.push_back(row);
  return rows;
}

option_rows link_set_flags() {
  auto rows = common_link_flags();
  rows.push_back({.key = "down", .kind = flag, .help = "take the interface down"});
  rows.push_back({.key = "no_address",
                  .kind = list,
                  .value_name = "IP/BITS",
                  .help = "remove this IP address; repeatable"});
  rows.push_back(
      {.key = "no_master", .kind = flag, .help = "remove the interface from its bridge"});
  rows.push_back(
      {.key = "name", .kind = text, .value_name = "NAME", .help = "new name of the interface"});
  return rows;
}

}  // namespace

std::vector<verb_row> link_verbs() {
  return {
      {"l2 link list",
       "[IFACE...]",
       ethernet,
       "list interfaces with their kind, parent and addresses",
       0,
       any_number,
       run_l2_link_list,
       {no_header_row()}},
      {"l2 link add", "NAME", ethernet, "create a VLAN device, a veth, a bridge or a macvlan", 1, 1,
       run_l2_link_add, link_add_flags()},
      {"l2 link set", "IFACE", ethernet,
       "change an interface: MTU, addresses, name, up or down, bridge", 1, 1, run_l2_link_set,
       link_set_flags()},
      {"l2 link del",
       "IFACE...",
       ethernet,
       "remove virtual interfaces",
       1,
       any_number,
       run_l2_link_del,
       {}},
      {"l2 qdisc",
       "IFACE",
       ethernet,
       "show the queueing disciplines of an interface, with details of taprio and etf",
       1,
       1,
       run_l2_qdisc,
       {}},
  };
}

}  // namespace strata::cli
