// `strata.cluster`: what a script knows of the other daemons.
#pragma once

#include <span>
#include <string_view>

#include "script/library.hpp"

namespace strata::runtime::scripting {

/// Functions of `strata`, to be bound to a `host`.
[[nodiscard]] std::span<const script::function_row> cluster_functions();
/// The part that is written in Lua: run it once `strata` has its functions.
[[nodiscard]] std::string_view cluster_lines();

}  // namespace strata::runtime::scripting
