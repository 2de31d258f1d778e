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

option_rows repl_flags() {
  return {{.key = "eval",
           .short_flag = 'e',
           .kind = list,
           .value_name = "LINE",
           .help = "run this line instead of those of standard input; repeatable"}};
}

option_rows file_flags() {
  return {{.key = "dry_run", .kind = flag, .help = "only say what it would do"},
          {.key = "restart",
           .kind = flag,
           .help = "restart runtimes that run, where a change waits for that"}};
}

}  // namespace

std::vector<verb_row> lua_verbs() {
  return {
      {"lua check", "FILE...", verb_group::system,
       "look for mistakes in scripts, without running them", 1, any_number, run_lua_check,
       check_flags()},
      {"lua repl", "NAME", verb_group::talk,
       "run lines of Lua in the script of a runtime, and show what they give", 1, 1, run_lua_repl,
       repl_flags()},
      {"run", "FILE", verb_group::runtimes,
       "apply a Lua file that describes runtimes; applying it again changes nothing", 1, 1,
       run_lua_file, file_flags()},
      {"lua annotations", "", verb_group::system,
       "print what scripts see, as lua-language-server reads it", 0, 0, run_lua_annotations},
  };
}

}  // namespace strata::cli
