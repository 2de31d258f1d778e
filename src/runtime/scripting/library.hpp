// The functions of the table `strata` that every script has.
#pragma once

#include <span>
#include <string_view>

#include "script/library.hpp"

namespace strata::runtime::scripting {

/// To be bound to a `host`.
[[nodiscard]] std::span<const script::function_row> common_functions();
/// The part of the library that is written in Lua.
[[nodiscard]] std::string_view common_lines();

}  // namespace strata::runtime::scripting
