// The options for scripts, of every type that runs them.
#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "options/option_table.hpp"

namespace strata::runtime {

struct script_options {
  std::string lua;
  std::uint64_t lua_memory = 64U << 20U;
  double lua_time = 0.1;
  bool lua_jit = false;
  std::vector<std::string> lua_allow;
  bool lua_unsafe = false;
  bool lua_watch = false;
};

// One option per row of two or three lines.
// clang-format off
template <class Options>
[[nodiscard]] std::vector<options::bound_row<Options>> script_rows() {
  using enum options::option_kind;
  return {
      {{.key = "lua", .kind = text, .value_name = "FILE",
        .help = "run the Lua script FILE; its functions are called when events occur",
        .needs_restart = true, .reach = options::option_reach::read_path},
       &Options::lua},
      {{.key = "lua_memory", .kind = bytes, .value_name = "SIZE", .default_text = "64MiB",
        .help = "memory limit of the script, per thread",
        .needs_restart = true, .max = 1ULL << 40U, .min = 256U << 10U, .only_with = "lua"},
       &Options::lua_memory},
      {{.key = "lua_time", .kind = seconds, .value_name = "TIME", .default_text = "100ms",
        .help = "processor time that a function of the script may use until it ends or waits; then "
                "an error stops it",
        .needs_restart = true, .only_with = "lua"},
       &Options::lua_time},
      {{.key = "lua_jit", .kind = flag,
        .help = "compile code that runs often; only for a trusted script, since compiled code "
                "cannot be stopped",
        .needs_restart = true, .reach = options::option_reach::script_right, .only_with = "lua"},
       &Options::lua_jit},
      {{.key = "lua_allow", .kind = list, .value_name = "RIGHT",
        .help = "rights of the script: net, runtimes, read=DIR, write=DIR, unsafe or none "
                "(default: net and runtimes); repeatable",
        .needs_restart = true, .reach = options::option_reach::script_right, .only_with = "lua"},
       &Options::lua_allow},
      {{.key = "lua_unsafe", .kind = flag,
        .help = "same as --lua-allow unsafe: all Lua libraries and modules in C; the script can do "
                "whatever the daemon can",
        .needs_restart = true, .reach = options::option_reach::script_right, .only_with = "lua"},
       &Options::lua_unsafe},
      {{.key = "lua_watch", .kind = flag,
        .help = "reload the script when its file changes",
        .needs_restart = true, .only_with = "lua"},
       &Options::lua_watch},
  };
}
// clang-format on

}  // namespace strata::runtime
