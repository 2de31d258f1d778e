// Queueing disciplines in messages of rtnetlink.
#pragma once

#include <optional>

#include "strata/nl/qdisc.hpp"
#include "strata/wire/netlink.hpp"

namespace strata::nl {

/// Of an RTM_NEWQDISC; nullopt of others, and where it is cut.
[[nodiscard]] std::optional<qdisc> qdisc_of(const wire::netlink_message& message);

}  // namespace strata::nl
