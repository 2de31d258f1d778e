// The verbs of this folder: their rows for the table, and their handlers, each in the file named
// after it.
#pragma once

#include <vector>

#include "cli/line/verb.hpp"

namespace strata::cli {

outcome<int> run_xdp_gen(const invocation& call);
outcome<int> run_xdp_drop(const invocation& call);
outcome<int> run_xdp_fwd(const invocation& call);
outcome<int> run_xdp_stats(const invocation& call);

[[nodiscard]] std::vector<verb_row> xdp_verbs();

}  // namespace strata::cli
