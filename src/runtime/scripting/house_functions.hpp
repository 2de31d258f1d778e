// `strata.create`, `strata.stop` and their kin: a script asks the daemon about its runtimes, and
// hears what happens to them. Parts of the tables `strata` and `self`.
#pragma once

#include <span>
#include <string_view>

#include "script/library.hpp"

namespace strata::runtime::scripting {

/// Of `strata`, to be bound to a `host`.
[[nodiscard]] std::span<const script::function_row> house_functions();
/// Of `self`, of every type; the same.
[[nodiscard]] std::span<const script::function_row> own_functions();
/// The part of it that is written in Lua.
[[nodiscard]] std::string_view house_lines();

}  // namespace strata::runtime::scripting
