// Help, generated from the table of verbs and the types' option tables.
#pragma once

#include <span>
#include <string>
#include <string_view>

#include "cli/line/verb.hpp"

namespace strata::cli {

/// All verbs by group.
[[nodiscard]] std::string general_help();

/// The two-word verbs that begin with `family`.
[[nodiscard]] std::string family_help(std::string_view family);

/// One verb with its flags; with those of `type` if the verb takes a type's options.
[[nodiscard]] std::string verb_help(const verb_row& verb, const runtime::type_row* type = nullptr);

/// "-p, --port PORT"
[[nodiscard]] std::string flag_text(const options::option_row& row);

/// What the flag does, and in parentheses its conditions, choices and default; with `with_restart`
/// also whether it needs a restart.
[[nodiscard]] std::string flag_meaning(const options::option_row& row, bool with_restart);

struct group_title {
  verb_group group;
  std::string_view title;
};
[[nodiscard]] std::span<const group_title> verb_groups();

struct code_row {
  exit_code code;
  std::string_view meaning;
};
[[nodiscard]] std::span<const code_row> exit_codes();

outcome<int> run_help(const invocation& call);

}  // namespace strata::cli
