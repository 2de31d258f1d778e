// Writes the requests that create and change links.
#pragma once

#include "strata/nl/route.hpp"

namespace strata::nl {

/// Writes an RTM_NEWLINK for a new link.
void write_new_link(wire::netlink_writer& writer, const new_link& link);

/// Writes an RTM_NEWLINK for an existing link.
void write_changes(wire::netlink_writer& writer, int index, const link_changes& changes);

/// Returns the VLAN device that IFLA_INFO_DATA describes.
[[nodiscard]] vlan_kind vlan_of(const wire::netlink_attributes& data, int parent);

}  // namespace strata::nl
