// Reads what the controller tells of a family's policy, a message at a time.
#pragma once

#include "strata/nl/generic.hpp"

namespace strata::nl {

/// Adds what a message of CTRL_CMD_GETPOLICY's dump says.
void read_policy(wire::netlink_attributes attributes, family_policy& policy);

}  // namespace strata::nl
