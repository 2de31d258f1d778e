// strata bench: its rows of the verb table, and what its verbs share.
#pragma once

#include <vector>

#include "cli/verbs.hpp"
#include "measure/run/plan.hpp"
#include "measure/run/testbed.hpp"

namespace strata::cli {

[[nodiscard]] std::vector<verb_row> bench_verbs();

outcome<int> run_bench_paths(const invocation& call);
outcome<int> run_bench_remote(const invocation& call);
outcome<int> run_bench_netlink(const invocation& call);
outcome<int> run_bench_node(const invocation& call);

/// What the measuring flags ask for.
[[nodiscard]] paths::wishes wishes_of(const invocation& call);

/// Carries out what the flags ask for, and shows it as they say.
outcome<int> measure(const invocation& call, paths::lab& in, bool has_plain);

}  // namespace strata::cli
