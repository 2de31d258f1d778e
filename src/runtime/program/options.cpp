#include "runtime/program/options.hpp"

#include <fmt/format.h>

namespace strata::runtime::program {

std::vector<std::string> program_options::endpoints() const {
  std::vector<std::string> all;
  for (std::uint64_t at = 0; port && at < instances; ++at) {
    all.push_back(fmt::format("tcp://127.0.0.1:{}", *port == 0 ? 0 : *port + at));
  }
  return all;
}

namespace {

using enum options::option_kind;
using row = options::bound_row<program_options>;

// One option per row of two or three lines.
// clang-format off
std::vector<row> own_rows() {
  return {
      {{.key = "command", .short_flag = 'c', .kind = text, .value_name = "COMMAND",
        .help = "the program and its arguments, with quotes as in a shell but nothing else of one; "
                "{port}, {instance} and {name} are replaced", .needs_restart = true,
        .reach = options::option_reach::running},
       &program_options::command},
      {{.key = "shell", .kind = flag,
        .help = "run the command by /bin/sh -c", .needs_restart = true},
       &program_options::shell},
      {{.key = "env", .kind = list, .value_name = "NAME=VALUE",
        .help = "variable of the environment, beside those of the daemon; repeatable",
        .needs_restart = true},
       &program_options::env},
      {{.key = "folder", .kind = text, .value_name = "DIR",
        .help = "working directory (default: the root directory)", .needs_restart = true,
        .reach = options::option_reach::read_path},
       &program_options::folder},
      {{.key = "instances", .kind = count, .value_name = "N", .default_text = "1",
        .help = "processes that run at the same time", .needs_restart = true, .max = 256,
        .min = 1},
       &program_options::instances},
      {{.key = "port", .short_flag = 'p', .kind = port, .value_name = "PORT",
        .help = "TCP port on 127.0.0.1 at which the first instance listens; the next one has the "
                "next port; 0 chooses free ones. Also in the variable PORT",
        .needs_restart = true},
       &program_options::port},
      {{.key = "ready", .kind = text, .value_name = "WHEN", .default_text = "started",
        .help = "when an instance counts as ready: started, port (it accepts connections), "
                "http:PATH (it answers GET with 2xx or 3xx), or line:TEXT (it prints a line with "
                "TEXT)",
        .needs_restart = true, .choices = "started|port|http:|line:"},
       &program_options::ready},
      {{.key = "ready_timeout", .kind = seconds, .value_name = "TIME", .default_text = "10",
        .help = "longest time until an instance is ready; then it is stopped, and has failed"},
       &program_options::ready_timeout},
      {{.key = "stop_signal", .kind = text, .value_name = "NAME", .default_text = "TERM",
        .help = "signal that ends an instance, such as TERM, INT or QUIT",
        .choices = "TERM|INT|QUIT|HUP|USR1|USR2|KILL"},
       &program_options::stop_signal},
      {{.key = "grace", .kind = seconds, .value_name = "TIME", .default_text = "10",
        .help = "longest time between that signal and SIGKILL"},
       &program_options::grace},
  };
}
// clang-format on

}  // namespace

const std::vector<options::bound_row<program_options>>& option_table() {
  static const auto table = with_runtime_options(own_rows());
  return table;
}

const std::vector<options::option_row>& option_rows() {
  static const auto rows = rows_of(option_table());
  return rows;
}

}  // namespace strata::runtime::program
