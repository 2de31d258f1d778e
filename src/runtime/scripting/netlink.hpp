// `strata.netlink`: scripts ask families of generic netlink, and hear what those multicast, by the
// names of their YNL specifications.
#pragma once

#include "runtime/scripting/host.hpp"
#include "script/call.hpp"

namespace strata::runtime::scripting {

/// `strata.netlink(family, command, attributes?, options?)`.
[[nodiscard]] loop::task<script::answers> ask_netlink(host& of, script::call& with);
/// `strata.netlink_listen(family, group, call)`.
[[nodiscard]] loop::task<script::answers> hear_netlink(host& of, script::call& with);

}  // namespace strata::runtime::scripting
