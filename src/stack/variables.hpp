// Variables in texts: `${NAME}`, `${NAME:-VALUE}`, and `$$` for `$`.
#pragma once

#include <functional>
#include <optional>
#include <string>
#include <string_view>

#include "strata/base/result.hpp"

namespace strata::stack {

/// Replaces the variables. `value_of` returns nullopt for a variable without a value: then its
/// VALUE is used. A name has letters, digits and `_`, and does not begin with a digit.
///
/// Errors: not_found, for a variable that has no value; invalid_argument, for any other `$`. The
/// reason is a whole sentence.
[[nodiscard]] result<std::string> expand_variables(
    std::string_view text,
    const std::function<std::optional<std::string>(const std::string& name)>& value_of);

}  // namespace strata::stack
