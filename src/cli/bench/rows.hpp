// The verbs of this folder: their rows for the table, and their handlers, each in the file named
// after it.
#pragma once

#include <vector>

#include "cli/line/verb.hpp"

namespace strata::cli {

outcome<int> run_bench_paths(const invocation& call);
outcome<int> run_bench_remote(const invocation& call);
outcome<int> run_bench_compare(const invocation& call);
outcome<int> run_bench_netlink(const invocation& call);
outcome<int> run_bench_node(const invocation& call);

[[nodiscard]] std::vector<verb_row> bench_verbs();

}  // namespace strata::cli
