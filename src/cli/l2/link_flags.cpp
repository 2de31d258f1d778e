#include "cli/l2/link_flags.hpp"

#include <fcntl.h>
#include <fmt/format.h>

#include <algorithm>
#include <cerrno>
#include <charconv>
#include <cstring>

#include "cli/l2/frame_flags.hpp"

namespace strata::cli {

namespace {

// Parses "0:7": a priority, and the priority it is mapped to.
outcome<std::vector<nl::priority_pair>> pair_flags(const invocation& call, std::string_view key,
                                                   std::string_view flag) {
  std::vector<nl::priority_pair> pairs;
  for (const auto& text : call.flags.value(key, std::vector<std::string>{})) {
    nl::priority_pair made;
    const char* const end = text.data() + text.size();
    const auto from = std::from_chars(text.data(), end, made.from);
    const bool has_both = from.ec == std::errc{} && from.ptr != end && *from.ptr == ':';
    const auto to = has_both ? std::from_chars(from.ptr + 1, end, made.to) : from;
    const auto pcp = flag == "--egress-prio" ? made.to : made.from;
    if (!has_both || to.ec != std::errc{} || to.ptr != end || pcp > 7) {
      return refuse(exit_misused, fmt::format("{0} cannot be '{1}': write two numbers, such as {0} "
                                              "0:7; the one of the tag is 0 to 7",
                                              flag, text));
    }
    pairs.push_back(made);
  }
  return pairs;
}

outcome<int> index_of(nl::route& route, const std::string& name) {
  const auto found = route.link_named(name);
  if (found) return found->index;
  return refuse(found.error().code == errc::not_found ? exit_not_found : exit_failed,
                found.error());
}

outcome<int> parent_flag(const invocation& call, nl::route& route) {
  if (!call.flags.contains("parent")) {
    return refuse(exit_misused, fmt::format("a {} needs a parent interface: give --parent IFACE",
                                            call.text("type")));
  }
  return index_of(route, call.text("parent"));
}

outcome<nl::link_kind> vlan_flags(const invocation& call, nl::route& route) {
  const auto parent = parent_flag(call, route);
  if (!parent) return std::unexpected(parent.error());
  if (!call.flags.contains("vlan")) {
    return refuse(exit_misused, "a vlan needs a number: give --vlan VID");
  }
  auto egress = pair_flags(call, "egress_prio", "--egress-prio");
  if (!egress) return std::unexpected(egress.error());
  auto ingress = pair_flags(call, "ingress_prio", "--ingress-prio");
  if (!ingress) return std::unexpected(ingress.error());
  return nl::vlan_kind{.parent = *parent,
                       .id = call.flags.value("vlan", std::uint16_t{0}),
                       .is_service = call.is_set("service"),
                       .egress = std::move(*egress),
                       .ingress = std::move(*ingress)};
}

outcome<nl::link_kind> macvlan_flags(const invocation& call, nl::route& route) {
  const auto parent = parent_flag(call, route);
  if (!parent) return std::unexpected(parent.error());
  using enum nl::macvlan_kind::mode;
  const auto mode = call.text("mode", "bridge");
  const auto how = mode == "private"  ? isolated
                   : mode == "vepa"   ? vepa
                   : mode == "bridge" ? bridge
                                      : passthru;
  return nl::macvlan_kind{.parent = *parent, .how = how};
}

// Refuses flags that have no effect.
outcome<> check_flags(const invocation& call) {
  static constexpr struct {
    std::string_view key;
    std::string_view flag;
    std::string_view types;
  } rows[] = {{"parent", "--parent", "vlan macvlan"},     {"vlan", "--vlan", "vlan"},
              {"service", "--service", "vlan"},           {"egress_prio", "--egress-prio", "vlan"},
              {"ingress_prio", "--ingress-prio", "vlan"}, {"peer", "--peer", "veth"},
              {"peer_netns", "--peer-netns", "veth"},     {"mode", "--mode", "macvlan"}};
  const auto type = call.text("type");
  for (const auto& row : rows) {
    if (!call.flags.contains(row.key) || row.types.contains(type)) continue;
    return refuse(
        exit_misused,
        fmt::format("{} is for --type {}, not for a {}", row.flag,
                    row.types.starts_with("vlan m") ? "vlan and macvlan" : row.types, type));
  }
  return {};
}

}  // namespace

outcome<unique_fd> open_network_namespace(const std::string& pid_or_name) {
  const bool is_pid = std::ranges::all_of(pid_or_name, [](char c) { return c >= '0' && c <= '9'; });
  const auto path = is_pid ? fmt::format("/proc/{}/ns/net", pid_or_name)
                           : fmt::format("/run/netns/{}", pid_or_name);
  unique_fd opened(pid_or_name.contains('/') ? -1 : ::open(path.c_str(), O_RDONLY | O_CLOEXEC));
  if (opened) return opened;
  if (is_pid) {
    return refuse(exit_not_found,
                  fmt::format("cannot reach the network namespace of process {}: {}", pid_or_name,
                              std::strerror(errno)));
  }
  return refuse(exit_not_found,
                fmt::format("there is no network namespace '{}'; `ip netns` lists the named ones",
                            pid_or_name));
}

outcome<wanted_link> new_link_flags(const invocation& call, nl::route& route) {
  if (!call.flags.contains("type")) {
    return refuse(exit_misused, "--type is missing: give --type vlan, veth, bridge or macvlan");
  }
  if (auto good = check_flags(call); !good) return std::unexpected(good.error());
  wanted_link made;
  made.link.name = call.words[0];
  const auto type = call.text("type");
  if (type == "veth") {
    if (!call.flags.contains("peer")) {
      return refuse(exit_misused, "a veth has two ends: name the other one with --peer NAME");
    }
    if (call.flags.contains("peer_netns")) {
      auto opened = open_network_namespace(call.text("peer_netns"));
      if (!opened) return std::unexpected(opened.error());
      made.network_namespace = std::move(*opened);
    }
    made.link.kind = nl::veth_kind{call.text("peer"), made.network_namespace.get()};
  } else if (type == "bridge") {
    made.link.kind = nl::bridge_kind{};
  } else {
    auto kind = type == "vlan" ? vlan_flags(call, route) : macvlan_flags(call, route);
    if (!kind) return std::unexpected(kind.error());
    made.link.kind = std::move(*kind);
  }
  const auto mac = mac_flag(call, "mac");
  if (!mac) return std::unexpected(mac.error());
  made.link.mac = *mac;
  made.link.up = call.is_set("up");
  if (call.flags.contains("mtu")) made.link.mtu = call.flags.value("mtu", std::uint32_t{0});
  return made;
}

outcome<nl::link_changes> link_change_flags(const invocation& call, nl::route& route) {
  nl::link_changes made;
  if (call.is_set("up") && call.is_set("down")) {
    return refuse(exit_misused, "--up and --down exclude each other: give one");
  }
  if (call.is_set("up") || call.is_set("down")) made.up = call.is_set("up");
  const auto mac = mac_flag(call, "mac");
  if (!mac) return std::unexpected(mac.error());
  made.mac = *mac;
  if (call.flags.contains("mtu")) made.mtu = call.flags.value("mtu", std::uint32_t{0});
  if (call.flags.contains("name")) made.name = call.text("name");
  if (call.is_set("no_master")) made.master = 0;
  if (call.flags.contains("master")) {
    const auto master = index_of(route, call.text("master"));
    if (!master) return std::unexpected(master.error());
    made.master = *master;
  }
  return made;
}

}  // namespace strata::cli
