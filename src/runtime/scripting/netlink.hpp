// `strata.netlink`: scripts send requests to generic netlink families, and receive their
// multicasts, by the names of their YNL specifications.
#pragma once

#include "runtime/scripting/host.hpp"
#include "script/call.hpp"

namespace strata::runtime::scripting {

/// `strata.netlink(family, command, attributes?, options?)`.
[[nodiscard]] loop::task<script::answers> ask_netlink(host& host, script::call& call);
/// `strata.netlink_listen(family, group, call)`.
[[nodiscard]] loop::task<script::answers> receive_netlink(host& host, script::call& call);

}  // namespace strata::runtime::scripting
