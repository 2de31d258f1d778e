#include "runtime/program/options.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <iterator>
#include <utility>

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
std::vector<row> command_rows() {
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
      {{.key = "user", .kind = text, .value_name = "NAME",
        .help = "user of the system as whom the program runs, with that user's groups (default: "
                "the daemon's)",
        .needs_restart = true},
       &program_options::user},
      {{.key = "limit", .kind = list, .value_name = "NAME=N",
        .help = "resource limit of each process, such as nofile=1000 or nproc=100:200 (soft and "
                "hard); repeatable",
        .needs_restart = true},
       &program_options::limit},
  };
}

std::vector<row> group_rows() {
  return {
      {{.key = "memory", .kind = bytes, .value_name = "SIZE", .default_text = "0",
        .help = "memory of an instance with all that it starts; the kernel kills it above this; 0 "
                "means no limit", .needs_restart = true},
       &program_options::memory},
      {{.key = "cpus", .kind = text, .value_name = "N",
        .help = "processors that an instance may use with all that it starts, such as 0.5 or 2 "
                "(default: all)", .needs_restart = true},
       &program_options::cpus},
      {{.key = "tasks", .kind = count, .value_name = "N", .default_text = "0",
        .help = "processes and threads of an instance; 0 means no limit", .needs_restart = true},
       &program_options::tasks},
  };
}

std::vector<row> port_rows() {
  return {
      {{.key = "instances", .kind = count, .value_name = "N", .default_text = "1",
        .help = "processes that run at the same time", .needs_restart = true, .max = 256,
        .min = 1},
       &program_options::instances},
      {{.key = "port", .short_flag = 'p', .kind = port, .value_name = "PORT",
        .help = "TCP port on 127.0.0.1 at which the first instance listens; the next one has the "
                "next port; 0 chooses free ones. Also in the variable PORT",
        .needs_restart = true},
       &program_options::port},
      {{.key = "keep_socket", .kind = flag,
        .help = "listen at the ports, and hand each instance its socket as descriptor 3 "
                "(LISTEN_FDS), so that a roll or a failure refuses no connection",
        .needs_restart = true, .only_with = "port"},
       &program_options::keep_socket},
      {{.key = "drain", .kind = seconds, .value_name = "TIME", .default_text = "1",
        .help = "how long 'strata roll' leaves an instance without new work before it is stopped"},
       &program_options::drain},
  };
}

std::vector<row> life_rows() {
  return {
      {{.key = "ready", .kind = text, .value_name = "WHEN", .default_text = "started",
        .help = "when an instance counts as ready: started, port (it accepts connections), "
                "http:PATH (it answers GET with 2xx or 3xx), line:TEXT (it prints a line with "
                "TEXT), or notify (it sends READY=1, as of sd_notify)",
        .needs_restart = true, .choices = "started|port|http:|line:|notify"},
       &program_options::ready},
      {{.key = "ready_timeout", .kind = seconds, .value_name = "TIME", .default_text = "10",
        .help = "longest time until an instance is ready; then it is stopped, and has failed"},
       &program_options::ready_timeout},
      {{.key = "alive", .kind = text, .value_name = "WHEN",
        .help = "check that an instance is alive: port, http:PATH, or notify (it sends "
                "WATCHDOG=1); one that is not is killed, and has failed (default: no check)",
        .needs_restart = true, .choices = "port|http:|notify"},
       &program_options::alive},
      {{.key = "alive_interval", .kind = seconds, .value_name = "TIME", .default_text = "10",
        .help = "time between these checks", .needs_restart = true, .only_with = "alive"},
       &program_options::alive_interval},
      {{.key = "alive_limit", .kind = count, .value_name = "N", .default_text = "3",
        .help = "checks that fail in a row before an instance is killed", .needs_restart = true,
        .min = 1, .only_with = "alive"},
       &program_options::alive_limit},
      {{.key = "stop_signal", .kind = text, .value_name = "NAME", .default_text = "TERM",
        .help = "signal that ends an instance, such as TERM, INT or QUIT",
        .choices = "TERM|INT|QUIT|HUP|USR1|USR2|KILL"},
       &program_options::stop_signal},
      {{.key = "grace", .kind = seconds, .value_name = "TIME", .default_text = "10",
        .help = "longest time between that signal and SIGKILL"},
       &program_options::grace},
  };
}

std::vector<row> output_rows() {
  return {
      {{.key = "output_file", .kind = text, .value_name = "FILE",
        .help = "append each line of output to FILE too; {name} and {instance} are replaced, and "
                "several instances need {instance}",
        .needs_restart = true, .reach = options::option_reach::written_path},
       &program_options::output_file},
      {{.key = "output_size", .kind = bytes, .value_name = "SIZE", .default_text = "10MiB",
        .help = "size at which the file becomes FILE.1, and a new one is begun",
        .needs_restart = true, .min = 65536, .only_with = "output_file"},
       &program_options::output_size},
      {{.key = "output_keep", .kind = count, .value_name = "N", .default_text = "5",
        .help = "how many older files of output stay",
        .needs_restart = true, .max = 1000, .only_with = "output_file"},
       &program_options::output_keep},
  };
}

std::vector<row> attached_rows() {
  return {
      {{.key = "attached", .kind = flag,
        .help = "watch a process that strata has not started, instead of running a command: by "
                "--pid, by checks of --port, or both",
        .needs_restart = true},
       &program_options::attached},
      {{.key = "pid", .kind = text, .value_name = "PID",
        .help = "id of the attached process; PID@TICKS, with its start time in /proc/PID/stat, "
                "stands for no later process of that id",
        .needs_restart = true, .only_with = "attached"},
       &program_options::pid},
      {{.key = "managed", .kind = flag,
        .help = "a stop ends the attached process, and 'strata signal' reaches it",
        .needs_restart = true, .only_with = "pid"},
       &program_options::managed},
  };
}
// clang-format on

}  // namespace

std::unexpected<error> refuse_options(std::string reason, std::string advice) {
  return failure(errc::invalid_argument, "make a program", std::move(reason), std::move(advice));
}

const std::vector<options::bound_row<program_options>>& option_table() {
  static const auto table = [] {
    auto rows = command_rows();
    for (auto more : {group_rows(), port_rows(), life_rows(), output_rows(), attached_rows()}) {
      std::ranges::move(more, std::back_inserter(rows));
    }
    return with_runtime_options(std::move(rows));
  }();
  return table;
}

const std::vector<options::option_row>& option_rows() {
  static const auto rows = rows_of(option_table());
  return rows;
}

}  // namespace strata::runtime::program
