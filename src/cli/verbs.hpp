// The one table of verbs: parsing, help and dispatch all come from it.
#pragma once

#include <span>

#include "cli/line/verb.hpp"

namespace strata::cli {

[[nodiscard]] std::span<const verb_row> verbs();

/// The flags that every verb has.
[[nodiscard]] std::span<const options::option_row> common_flags();

/// Those of them that a verb has no flag of its own for.
[[nodiscard]] option_rows common_flags_of(const verb_row& verb);

}  // namespace strata::cli
