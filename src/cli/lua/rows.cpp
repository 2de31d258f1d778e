#include "cli/lua/rows.hpp"

namespace strata::cli {

namespace {

using enum options::option_kind;

option_rows check_flags() {
  return {{.key = "type",
           .kind = choice,
           .value_name = "TYPE",
           .help = "the runtime that it is for; else any that runs scripts",
           .choices = "server|client"}};
}

}  // namespace

std::vector<verb_row> lua_verbs() {
  return {
      {"lua check", "FILE...", verb_group::system,
       "look for mistakes in scripts, without running them", 1, any_number, run_lua_check,
       check_flags()},
      {"lua annotations", "", verb_group::system,
       "print what scripts see, as lua-language-server reads it", 0, 0, run_lua_annotations},
  };
}

}  // namespace strata::cli
