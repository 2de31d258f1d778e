// What scripts can reach outside the daemon: connections, Redis servers, files. A part of the table
// `strata`.
#pragma once

#include <span>
#include <string_view>

#include "script/library.hpp"
#include "script/object.hpp"

namespace strata::runtime::scripting {

/// To be bound to a `host`.
[[nodiscard]] std::span<const script::function_row> outside_functions();
/// The kinds of objects that these functions return.
[[nodiscard]] std::span<const script::object_kind* const> outside_kinds();
/// The part of the library that is written in Lua.
[[nodiscard]] std::string_view outside_lines();

}  // namespace strata::runtime::scripting
