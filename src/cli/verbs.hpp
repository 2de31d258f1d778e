// The one table of verbs: parsing, help and dispatch all come from it.
#pragma once

#include <span>
#include <string_view>

#include "cli/line/verb.hpp"

namespace strata::cli {

[[nodiscard]] std::span<const verb_row> verbs();
/// Errors: misused, with the nearest verb.
[[nodiscard]] outcome<const verb_row*> find_verb(std::string_view name);

/// Says whether verbs of two words begin with `word`.
[[nodiscard]] bool is_family(std::string_view word);

/// The flags that every verb has.
[[nodiscard]] std::span<const options::option_row> common_flags();

}  // namespace strata::cli
