// Help, made from the table of verbs and the types' option tables.
#pragma once

#include <string>
#include <string_view>

#include "cli/line/verb.hpp"

namespace strata::cli {

/// All verbs by group.
[[nodiscard]] std::string general_help();

/// The verbs of two words that begin with `family`.
[[nodiscard]] std::string family_help(std::string_view family);

/// One verb with its flags; with those of `type` where the verb takes a type's options.
[[nodiscard]] std::string verb_help(const verb_row& verb, const runtime::type_row* type = nullptr);

outcome<int> run_help(const invocation& call);

}  // namespace strata::cli
