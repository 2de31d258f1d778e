// The stack that a verb's flags name: its file, and the variables that are set.
#pragma once

#include <string>

#include "cli/line/invocation.hpp"
#include "cli/line/outcome.hpp"
#include "stack/document.hpp"

namespace strata::cli {

/// The name of the file that `--file` names; without it, `strata.yaml` or `strata.yml`, whichever
/// the current folder has.
[[nodiscard]] std::string stack_file_name(const invocation& call);

/// What documents are read with here: the types of this program, and the variables of `--set` and
/// of the environment. `call` outlives it.
[[nodiscard]] stack::reading reading_of(const invocation& call, const std::string& file);

/// Reads the stack of `--file`, or of standard input for `-`. Errors: misused, for a wrong `--set`;
/// failed, with file, line and column.
[[nodiscard]] outcome<stack::document> read_stack(const invocation& call);

}  // namespace strata::cli
