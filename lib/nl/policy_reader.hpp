// Reads the controller's report of a family's policy, one message at a time.
#pragma once

#include "strata/nl/generic.hpp"

namespace strata::nl {

/// Adds the contents of one message of CTRL_CMD_GETPOLICY's dump.
void read_policy(wire::netlink_attributes attributes, family_policy& policy);

}  // namespace strata::nl
