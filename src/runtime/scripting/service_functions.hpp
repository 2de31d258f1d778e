// `strata.create`, `strata.stop` and related functions: a script sends requests about runtimes to
// the daemon, and receives their events. Parts of the tables `strata` and `self`.
#pragma once

#include <span>
#include <string_view>

#include "script/library.hpp"

namespace strata::runtime::scripting {

/// Functions of `strata`, to be bound to a `host`.
[[nodiscard]] std::span<const script::function_row> service_functions();
/// Functions of `self`, for every type; also to be bound to a `host`.
[[nodiscard]] std::span<const script::function_row> own_functions();
/// The part of the library that is written in Lua.
[[nodiscard]] std::string_view service_lines();

}  // namespace strata::runtime::scripting
