// The names that scripts see, in every type that runs them: for checks, the reference and editors.
#pragma once

#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "runtime/scripting/service_functions.hpp"
#include "script/library.hpp"
#include "script/object.hpp"

namespace strata::runtime {

/// The table `self` of a type.
struct script_table {
  std::string_view type;
  std::span<const script::function_row> functions;
};

[[nodiscard]] std::span<const script_table> script_tables();
/// The values and the functions that the table `self` has in every type.
[[nodiscard]] std::span<const scripting::own_value> own_script_values();
[[nodiscard]] std::span<const script::function_row> own_script_functions();
/// The table `strata`: its functions with rows, and the names of those without.
[[nodiscard]] std::span<const script::function_row> common_script_functions();
[[nodiscard]] std::span<const std::string_view> other_common_names();
/// The kinds of objects that some of them return.
[[nodiscard]] std::span<const script::object_kind* const> script_objects();
/// The script functions that a type calls.
[[nodiscard]] std::vector<script::callback_row> script_callbacks(std::string_view type);

/// Everything as Markdown.
[[nodiscard]] std::string script_reference();
/// Everything in the format of lua-language-server.
[[nodiscard]] std::string script_annotations();

}  // namespace strata::runtime
