// The verbs of this folder: their rows for the table, and their handlers, each in the file named
// after it.
#pragma once

#include <string>
#include <vector>

#include "cli/line/verb.hpp"

namespace strata::cli {

outcome<int> run_nl_families(const invocation& call);
outcome<int> run_nl_show(const invocation& call);
outcome<int> run_nl_policy(const invocation& call);
outcome<int> run_nl_call(const invocation& call);
outcome<int> run_nl_listen(const invocation& call);

/// The families of this kernel, for completion; empty if they cannot be listed.
[[nodiscard]] std::vector<std::string> family_names();

[[nodiscard]] std::vector<verb_row> nl_verbs();

}  // namespace strata::cli
