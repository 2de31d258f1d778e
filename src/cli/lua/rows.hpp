// The family `strata lua`, and `strata run`: scripts and files in Lua.
#pragma once

#include <vector>

#include "cli/line/verb.hpp"

namespace strata::cli {

outcome<int> run_lua_check(const invocation& call);
outcome<int> run_lua_repl(const invocation& call);
outcome<int> run_lua_file(const invocation& call);
outcome<int> run_lua_annotations(const invocation& call);

[[nodiscard]] std::vector<verb_row> lua_verbs();

}  // namespace strata::cli
