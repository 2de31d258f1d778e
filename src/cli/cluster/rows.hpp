// `strata cluster`: the daemons of the cluster, and their runtimes.
#pragma once

#include <vector>

#include "cli/line/verb.hpp"

namespace strata::cli {

outcome<int> run_cluster_ls(const invocation& call);
outcome<int> run_cluster_ps(const invocation& call);
outcome<int> run_cluster_group(const invocation& call);
outcome<int> run_cluster_show(const invocation& call);
outcome<int> run_cluster_stats(const invocation& call);
outcome<int> run_cluster_watch(const invocation& call);
outcome<int> run_cluster_drain(const invocation& call);

[[nodiscard]] std::vector<verb_row> cluster_verbs();

}  // namespace strata::cli
