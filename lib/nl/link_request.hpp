// The requests that make and change links, as bytes.
#pragma once

#include "strata/nl/route.hpp"

namespace strata::nl {

/// RTM_NEWLINK for a link that is not there yet.
void write_new_link(wire::netlink_writer& writer, const new_link& link);

/// RTM_NEWLINK for one that is.
void write_changes(wire::netlink_writer& writer, int index, const link_changes& changes);

/// What IFLA_INFO_DATA says of a VLAN device.
[[nodiscard]] vlan_kind vlan_of(const wire::netlink_attributes& data, int parent);

}  // namespace strata::nl
