// The kinds of links that strata can create (ip-link(8)): values, for `nl::route`.
#pragma once

#include <cstdint>
#include <string>
#include <string_view>
#include <variant>
#include <vector>

namespace strata::nl {

/// A mapping on a VLAN device between a kernel priority (SO_PRIORITY) and a tag's priority (PCP, 0
/// to 7).
struct priority_pair {
  std::uint32_t from = 0;
  std::uint32_t to = 0;
  bool operator==(const priority_pair&) const = default;
};

/// A device for the frames of one VLAN of another interface, without their tags. Needs 8021q in the
/// kernel.
struct vlan_kind {
  int parent = 0;                      ///< index of the underlying interface
  std::uint16_t id = 0;                ///< 0 to 4094
  bool is_service = false;             ///< 802.1ad (0x88a8) instead of 802.1Q (0x8100)
  std::vector<priority_pair> egress;   ///< from SO_PRIORITY to PCP; unmapped: 0
  std::vector<priority_pair> ingress;  ///< from PCP to SO_PRIORITY
  bool operator==(const vlan_kind&) const = default;
};

/// A virtual cable with two ends.
struct veth_kind {
  std::string peer;  ///< the other end's name
  /// The network namespace of the other end: a descriptor of /proc/PID/ns/net or /run/netns/NAME,
  /// which stays the caller's; -1 means this namespace.
  int peer_namespace = -1;
};

/// A switch; links become its ports by `link_changes::master`.
struct bridge_kind {};

/// An additional MAC address of another interface.
struct macvlan_kind {
  enum class mode : std::uint8_t { isolated, vepa, bridge, passthru };  // isolated: "private"
  int parent = 0;
  mode how = mode::bridge;
};

using link_kind = std::variant<vlan_kind, veth_kind, bridge_kind, macvlan_kind>;

/// Returns the kernel's name: "vlan".
[[nodiscard]] std::string_view name_of(const link_kind& kind);

}  // namespace strata::nl
