// The one table of verbs: parsing, help and dispatch all use it.
#pragma once

#include <span>

#include "cli/line/verb.hpp"

namespace strata::cli {

[[nodiscard]] std::span<const verb_row> verbs();

/// The flags that every verb has.
[[nodiscard]] std::span<const options::option_row> common_flags();

/// The common flags that a verb does not replace with its own.
[[nodiscard]] option_rows common_flags_of(const verb_row& verb);

}  // namespace strata::cli
