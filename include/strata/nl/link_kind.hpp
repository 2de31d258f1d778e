// The kinds of links that strata can make (ip-link(8)): values, for `nl::route`.
#pragma once

#include <cstdint>
#include <string>
#include <string_view>
#include <variant>
#include <vector>

namespace strata::nl {

/// Numbers that stand for each other on a VLAN device: a priority of the kernel's (SO_PRIORITY) and
/// a tag's (PCP, 0 to 7).
struct priority_pair {
  std::uint32_t from = 0;
  std::uint32_t to = 0;
  bool operator==(const priority_pair&) const = default;
};

/// Frames of one VLAN of another interface, without their tags. Linux with 8021q.
struct vlan_kind {
  int parent = 0;                      ///< index of the interface that it stands on
  std::uint16_t id = 0;                ///< 0 to 4094
  bool is_service = false;             ///< 802.1ad (0x88a8) instead of 802.1Q (0x8100)
  std::vector<priority_pair> egress;   ///< from a priority to a tag's; else 0
  std::vector<priority_pair> ingress;  ///< from a tag's to a priority
  bool operator==(const vlan_kind&) const = default;
};

/// A cable with two ends.
struct veth_kind {
  std::string peer;  ///< the other end's name
  /// Where the other end is to be: a descriptor of /proc/PID/ns/net or /run/netns/NAME, which stays
  /// the caller's; -1: here.
  int peer_namespace = -1;
};

/// A switch; links become its ports by `link_changes::master`.
struct bridge_kind {};

/// A further address of another interface.
struct macvlan_kind {
  enum class mode : std::uint8_t { isolated, vepa, bridge, passthru };  // isolated: "private"
  int parent = 0;
  mode how = mode::bridge;
};

using link_kind = std::variant<vlan_kind, veth_kind, bridge_kind, macvlan_kind>;

/// As the kernel calls it: "vlan".
[[nodiscard]] std::string_view name_of(const link_kind& kind);

}  // namespace strata::nl
