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
/// A value of `self` that is no function.
struct own_value {
  std::string_view name;
  std::string_view type;  ///< in Lua, as lua-language-server writes types
  std::string_view help;
};
[[nodiscard]] std::span<const own_value> own_values();
/// The part of the library that is written in Lua.
[[nodiscard]] std::string_view service_lines();
/// The part of `self` that is written in Lua: run it once `self` has its functions.
[[nodiscard]] std::string_view own_lines();

}  // namespace strata::runtime::scripting
