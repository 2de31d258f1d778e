#include "cli/lua/rows.hpp"

#include "runtime/types/script_tables.hpp"

namespace strata::cli {

namespace {

using enum options::option_kind;

std::string_view scripted_types() {
  static const std::string types = [] {
    std::string joined;
    for (const auto& table : runtime::script_tables()) {
      joined.append(joined.empty() ? "" : "|").append(table.type);
    }
    return joined;
  }();
  return types;
}

option_rows check_flags() {
  return {{.key = "type",
           .kind = choice,
           .value_name = "TYPE",
           .help = "type of the runtime that will run the scripts (default: any)",
           .choices = scripted_types()}};
}

option_rows repl_flags() {
  return {{.key = "eval",
           .short_flag = 'e',
           .kind = list,
           .value_name = "LINE",
           .help = "run this line instead of those of standard input; repeatable"}};
}

option_rows file_flags() {
  return {
      {.key = "dry_run", .kind = flag, .help = "print what would change, and change nothing"},
      {.key = "restart", .kind = flag, .help = "restart running runtimes if a change needs it"}};
}

}  // namespace

std::vector<verb_row> lua_verbs() {
  return {
      {"lua check", "FILE...", verb_group::system,
       "look for mistakes in scripts, without running them", 1, any_number, run_lua_check,
       check_flags()},
      {"lua repl", "NAME", verb_group::talk,
       "run lines of Lua in the script of a runtime, and print their values", 1, 1, run_lua_repl,
       repl_flags()},
      {"run", "FILE", verb_group::runtimes,
       "apply a Lua file that describes runtimes; applying it again changes nothing", 1, 1,
       run_lua_file, file_flags()},
      {"lua annotations", "", verb_group::system,
       "print the functions that scripts can call, in the format of lua-language-server", 0, 0,
       run_lua_annotations},
  };
}

}  // namespace strata::cli
