// The family `strata lua`: what can be done with scripts without a daemon.
#pragma once

#include <vector>

#include "cli/line/verb.hpp"

namespace strata::cli {

outcome<int> run_lua_check(const invocation& call);
outcome<int> run_lua_annotations(const invocation& call);

[[nodiscard]] std::vector<verb_row> lua_verbs();

}  // namespace strata::cli
