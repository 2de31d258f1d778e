// `strata.create`, `strata.stop` and their kin: a script asks the daemon about other runtimes.
#pragma once

#include "runtime/house.hpp"
#include "runtime/scripting/host.hpp"
#include "script/call.hpp"

namespace strata::runtime::scripting {

/// Awaits what comes of it.
[[nodiscard]] loop::task<script::answers> give_order(host& of, house_order what);
/// The order that the call's arguments give; it has failed where they cannot be taken.
[[nodiscard]] house_order creation(script::call& with);
[[nodiscard]] house_order change(script::call& with);

}  // namespace strata::runtime::scripting
