// Reads queueing disciplines from messages of rtnetlink.
#pragma once

#include <optional>

#include "strata/nl/qdisc.hpp"
#include "strata/wire/netlink.hpp"

namespace strata::nl {

/// Reads an RTM_NEWQDISC; nullopt for other messages, and for a truncated one.
[[nodiscard]] std::optional<qdisc> qdisc_of(const wire::netlink_message& message);

}  // namespace strata::nl
