// The one table of verbs: parsing, help and dispatch all come from it.
#pragma once

#include <span>

#include "cli/line/verb.hpp"

namespace strata::cli {

[[nodiscard]] std::span<const verb_row> verbs();

/// The flags that every verb has.
[[nodiscard]] std::span<const options::option_row> common_flags();

}  // namespace strata::cli
