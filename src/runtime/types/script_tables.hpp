// What scripts see, of every type that runs them: for checks, the reference and editors.
#pragma once

#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "script/library.hpp"
#include "script/object.hpp"

namespace strata::runtime {

/// The table `self` of a type.
struct script_table {
  std::string_view type;
  std::span<const script::function_row> functions;
};

[[nodiscard]] std::span<const script_table> script_tables();
/// What the table `self` has in every type.
[[nodiscard]] std::span<const script::function_row> own_script_functions();
/// The table `strata`: its functions that are rows, and the names of those that are not.
[[nodiscard]] std::span<const script::function_row> common_script_functions();
[[nodiscard]] std::span<const std::string_view> other_common_names();
/// What some of them give.
[[nodiscard]] std::span<const script::object_kind* const> script_objects();
/// The functions of scripts that a type calls.
[[nodiscard]] std::vector<script::callback_row> script_callbacks(std::string_view type);

/// All of it in Markdown.
[[nodiscard]] std::string script_reference();
/// All of it as lua-language-server reads it.
[[nodiscard]] std::string script_annotations();

}  // namespace strata::runtime
