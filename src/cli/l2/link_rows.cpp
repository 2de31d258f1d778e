// The verbs that make and change links, and their flags.
#include "cli/l2/link_flags.hpp"
#include "cli/l2/rows.hpp"
#include "cli/terminal/listing.hpp"

namespace strata::cli {

namespace {

using enum options::option_kind;
using enum verb_group;

// Of a link that is made, and of one that is changed.
option_rows common_link_flags() {
  return {
      {.key = "mtu",
       .kind = count,
       .value_name = "BYTES",
       .help = "its MTU, and of a new veth the other end's",
       .max = 65535,
       .min = 1},
      {.key = "mac", .kind = text, .value_name = "MAC", .help = "its address"},
      {.key = "up", .kind = flag, .help = "set it up"},
      {.key = "address",
       .kind = list,
       .value_name = "IP/BITS",
       .help = "give it this IP address, as 10.0.0.1/24; may be repeated"},
      {.key = "master", .kind = text, .value_name = "BRIDGE", .help = "make it a port of BRIDGE"},
  };
}

option_rows link_add_flags() {
  option_rows rows{
      {.key = "type",
       .kind = choice,
       .value_name = "KIND",
       .help = "what to make",
       .choices = "vlan|veth|bridge|macvlan"},
      {.key = "parent",
       .kind = text,
       .value_name = "IFACE",
       .help = "vlan, macvlan: the interface that it stands on"},
      {.key = "vlan", .kind = count, .value_name = "VID", .help = "vlan: its number", .max = 4094},
      {.key = "egress_prio",
       .kind = list,
       .value_name = "PRIO:PCP",
       .help = "vlan: frames of this priority (SO_PRIORITY) get this one in their tag; may be "
               "repeated"},
      {.key = "ingress_prio",
       .kind = list,
       .value_name = "PCP:PRIO",
       .help = "vlan: frames with this priority in their tag get this one; may be repeated"},
      {.key = "service", .kind = flag, .help = "vlan: with 802.1ad tags (0x88a8)"},
      {.key = "peer", .kind = text, .value_name = "NAME", .help = "veth: the other end"},
      {.key = "peer_netns",
       .kind = text,
       .value_name = "PID|NAME",
       .help = "veth: the other end's network namespace, that of a process or one of `ip netns`"},
      {.key = "mode",
       .kind = choice,
       .value_name = "HOW",
       .default_text = "bridge",
       .help = "macvlan: how those of one parent hear each other",
       .choices = "bridge|private|vepa|passthru"},
  };
  for (auto& row : common_link_flags()) rows.push_back(row);
  return rows;
}

option_rows link_set_flags() {
  auto rows = common_link_flags();
  rows.push_back({.key = "down", .kind = flag, .help = "set it down"});
  rows.push_back({.key = "no_address",
                  .kind = list,
                  .value_name = "IP/BITS",
                  .help = "take this IP address from it; may be repeated"});
  rows.push_back({.key = "no_master", .kind = flag, .help = "a port of no bridge any more"});
  rows.push_back({.key = "name", .kind = text, .value_name = "NAME", .help = "rename it"});
  return rows;
}

}  // namespace

std::vector<verb_row> link_verbs() {
  return {
      {"l2 link list",
       "[IFACE...]",
       ethernet,
       "list interfaces with their kind, what they stand on and their addresses",
       0,
       any_number,
       run_l2_link_list,
       {no_header_row()}},
      {"l2 link add", "NAME", ethernet, "make a VLAN device, a veth, a bridge or a macvlan", 1, 1,
       run_l2_link_add, link_add_flags()},
      {"l2 link set", "IFACE", ethernet,
       "change an interface: MTU, address, name, up or down, its bridge", 1, 1, run_l2_link_set,
       link_set_flags()},
      {"l2 link del",
       "IFACE...",
       ethernet,
       "remove interfaces that were made",
       1,
       any_number,
       run_l2_link_del,
       {}},
      {"l2 qdisc",
       "IFACE",
       ethernet,
       "show the queueing disciplines of an interface, with the schedules of taprio and etf",
       1,
       1,
       run_l2_qdisc,
       {}},
  };
}

}  // namespace strata::cli
