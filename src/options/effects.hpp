// Checks that options have an effect together with the others. An option without one is refused,
// because its user believes that it has.
#pragma once

#include <nlohmann/json_fwd.hpp>
#include <span>
#include <string>
#include <string_view>

#include "options/option_table.hpp"

namespace strata::options {

/// The conditions of a row's `only_with`, as flags: `--drain`, `--mode master`, `--write or
/// --http-log`.
[[nodiscard]] std::string condition_text(std::string_view only_with);

/// Checks that each option of `given` has an effect; an option with its default value is never
/// refused. `all`: the future values of all options. `carried`: what the endpoints carry, in the
/// words of the rows' `only_on`. Errors: invalid_argument, for the first row without an effect.
[[nodiscard]] result<void> check_effects(std::span<const option_row> rows,
                                         const nlohmann::json& given, const nlohmann::json& all,
                                         std::span<const std::string_view> carried);

}  // namespace strata::options
