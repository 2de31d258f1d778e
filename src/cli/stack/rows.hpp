// `strata up`, `down`, `diff`, `export` and `lint`: stacks of runtimes, described in YAML.
#pragma once

#include <vector>

#include "cli/line/verb.hpp"

namespace strata::cli {

outcome<int> run_up(const invocation& call);
outcome<int> run_down(const invocation& call);
outcome<int> run_diff(const invocation& call);
outcome<int> run_export(const invocation& call);
outcome<int> run_lint(const invocation& call);

[[nodiscard]] std::vector<verb_row> stack_verbs();

}  // namespace strata::cli
