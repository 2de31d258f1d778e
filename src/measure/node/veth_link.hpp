// A veth between two network namespaces, and how its ends are set up. All of it acts in the
// namespace of the calling process, which is to have one thread. Needs CAP_NET_ADMIN.
#pragma once

#include <sys/types.h>

#include <cstdint>
#include <string>
#include <string_view>

#include "strata/base/mac_address.hpp"
#include "strata/base/result.hpp"

namespace strata::measure {

/// Puts the process into a new network namespace, which goes with its last process, and with it
/// all links in it. Errors: permission_denied, saying what to do.
[[nodiscard]] result<void> enter_new_namespace();

/// Makes the veth: `here` in this namespace, `there` in that of process `peer`.
[[nodiscard]] result<void> make_veth(const std::string& here, const std::string& there, pid_t peer);

/// Gives the link its IPv4 address (in a /24) and sets it up, without IPv6, whose neighbour
/// discovery would be heard in between.
[[nodiscard]] result<void> configure_link(const std::string& link, const std::string& address);

[[nodiscard]] result<void> set_mtu(const std::string& link, std::uint32_t mtu);

/// So that no measurement waits for ARP.
[[nodiscard]] result<void> set_neighbour(const std::string& link, const std::string& address,
                                         const mac_address& mac);

/// What the interface dropped since it was made, by its own count.
struct interface_drops {
  std::uint64_t received = 0;
  std::uint64_t sent = 0;
};
[[nodiscard]] interface_drops drops_of(std::string_view link);

}  // namespace strata::measure
