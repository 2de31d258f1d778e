// A veth between two network namespaces, and the setup of its ends. All functions act in the
// namespace of the calling process, which must have one thread. Needs CAP_NET_ADMIN.
#pragma once

#include <sys/types.h>

#include <cstdint>
#include <string>
#include <string_view>

#include "strata/base/mac_address.hpp"
#include "strata/base/result.hpp"

namespace strata::measure {

/// Moves the process into a new network namespace, which is removed with its last process, as are
/// all links in it. Errors: permission_denied, with a remedy.
[[nodiscard]] result<void> enter_new_namespace();

/// Creates the veth: `here` in this namespace, `there` in that of process `peer`.
[[nodiscard]] result<void> make_veth(const std::string& here, const std::string& there, pid_t peer);

/// Sets the link's IPv4 address (in a /24) and sets it up, without IPv6, whose neighbour discovery
/// would add frames.
[[nodiscard]] result<void> configure_link(const std::string& link, const std::string& address);

[[nodiscard]] result<void> set_mtu(const std::string& link, std::uint32_t mtu);

/// Adds a neighbour entry, so that no measurement waits for ARP.
[[nodiscard]] result<void> set_neighbour(const std::string& link, const std::string& address,
                                         const mac_address& mac);

/// The interface's own counts of dropped frames since its creation.
struct interface_drops {
  std::uint64_t received = 0;
  std::uint64_t sent = 0;
};
[[nodiscard]] interface_drops drops_of(std::string_view link);

}  // namespace strata::measure
