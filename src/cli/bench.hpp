// strata bench: its rows of the verb table.
#pragma once

#include <vector>

#include "cli/verbs.hpp"

namespace strata::cli {

[[nodiscard]] std::vector<verb_row> bench_verbs();

outcome<int> run_bench_paths(const invocation& call);
outcome<int> run_bench_node(const invocation& call);

}  // namespace strata::cli
