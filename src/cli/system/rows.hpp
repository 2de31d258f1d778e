// The verbs of this folder: their rows for the table, and their handlers, each in the file named
// after it.
#pragma once

#include <vector>

#include "cli/line/verb.hpp"

namespace strata::cli {

outcome<int> run_daemon(const invocation& call);
outcome<int> run_doctor(const invocation& call);
outcome<int> run_version(const invocation& call);

[[nodiscard]] std::vector<verb_row> system_verbs();

}  // namespace strata::cli
