// The verb of this folder: its row for the table, and its handler.
#pragma once

#include <vector>

#include "cli/line/verb.hpp"

namespace strata::cli {

outcome<int> run_pipe(const invocation& call);

[[nodiscard]] std::vector<verb_row> pipe_verbs();

}  // namespace strata::cli
