// Whether options do anything beside the others. One that does not is refused: a person that gives
// it believes that it does.
#pragma once

#include <nlohmann/json_fwd.hpp>
#include <span>
#include <string>
#include <string_view>

#include "options/option_table.hpp"

namespace strata::options {

/// `--drain`, `--mode master`, `--write or --http-log`: what a row's `only_with` names, as flags.
[[nodiscard]] std::string condition_text(std::string_view only_with);

/// Whether each option of `given` has an effect; one that has its default value is never refused.
/// `all`: every option's value, as it will be. `carried`: what the endpoints carry, in the words of
/// the rows' `only_on`. Errors: invalid_argument, of the first row that has none.
[[nodiscard]] result<void> check_effects(std::span<const option_row> rows,
                                         const nlohmann::json& given, const nlohmann::json& all,
                                         std::span<const std::string_view> carried);

}  // namespace strata::options
