#include "cli/verbs.hpp"

#include <fmt/format.h>

#include "cli/nearest.hpp"

namespace strata::cli {

namespace {

using enum runtime::option_kind;
using enum verb_group;

constexpr std::size_t any_number = SIZE_MAX;

option_rows columns_flag() {
  return {{.key = "columns",
           .kind = text,
           .value_name = "A,B,C",
           .help = "show these columns; an unknown one lists them all"}};
}

option_rows follow_flags() {
  return {{.key = "follow",
           .short_flag = 'f',
           .kind = flag,
           .help = "go on with what comes, until Ctrl-C"},
          {.key = "tail",
           .short_flag = 'n',
           .kind = count,
           .value_name = "N",
           .default_text = "1000",
           .help = "start with the last N",
           .max = 1000}};
}

option_rows daemon_flags() {
  return {{.key = "state_dir",
           .kind = text,
           .value_name = "DIR",
           .help = "where runtimes are kept; else $STRATA_STATE_DIR"},
          {.key = "loop",
           .kind = choice,
           .value_name = "WHICH",
           .default_text = "auto",
           .help = "event loop; auto takes io_uring where the kernel permits it",
           .choices = "auto|io_uring|epoll"},
          {.key = "loops",
           .kind = count,
           .value_name = "N",
           .default_text = "0",
           .help = "event loops; 0 is one a core",
           .max = 64},
          {.key = "metrics",
           .kind = text,
           .value_name = "URL",
           .help = "serve Prometheus metrics on tcp://HOST:PORT"},
          {.key = "log_level",
           .kind = choice,
           .value_name = "LEVEL",
           .default_text = "info",
           .help = "least level that is logged",
           .choices = "debug|info|warning|error"},
          {.key = "drain_timeout",
           .kind = seconds,
           .value_name = "TIME",
           .default_text = "5",
           .help = "longest time that runtimes may take to stop when the daemon ends"}};
}

std::vector<verb_row> runtime_verbs() {
  return {
      {"create",
       "TYPE NAME",
       runtimes,
       "create a runtime",
       2,
       2,
       run_create,
       {{.key = "start", .short_flag = 's', .kind = flag, .help = "start it at once"}},
       type_by_name},
      {"start",
       "NAME|GLOB...",
       runtimes,
       "start runtimes",
       1,
       any_number,
       run_start,
       {{.key = "interactive",
         .short_flag = 'i',
         .kind = flag,
         .help = "send each line of input and show what comes; Ctrl-C or the input's end "
                 "detaches, the runtime goes on"}}},
      {"stop", "NAME|GLOB...", runtimes, "stop runtimes", 1, any_number, run_stop},
      {"restart", "NAME|GLOB...", runtimes, "stop runtimes if they run, then start them", 1,
       any_number, run_restart},
      {"reload", "NAME|GLOB...", runtimes, "restart those runtimes that run", 1, any_number,
       run_reload},
      {"edit",
       "NAME",
       runtimes,
       "change a runtime's options",
       1,
       1,
       run_edit,
       {{.key = "reset",
         .kind = list,
         .value_name = "OPTION",
         .help = "give an option its default again; repeatable"}},
       type_of_runtime},
      {"remove", "NAME|GLOB...", runtimes, "stop runtimes if they run, and forget them", 1,
       any_number, run_remove},
  };
}

std::vector<verb_row> other_verbs() {
  return {
      {"ls", "", look, "list all runtimes", 0, 0, run_ls, columns_flag()},
      {"ps", "", look, "list running runtimes", 0, 0, run_ps, columns_flag()},
      {"show", "NAME|GLOB...", look, "show runtimes with all their options", 1, any_number,
       run_show},
      {"stats", "NAME|GLOB...", look, "show counters and rates", 1, any_number, run_stats,
       columns_flag()},
      {"owner", "NAME", look, "show a runtime's owner and children", 1, 1, run_owner},
      {"logs", "NAME", look, "show a runtime's log", 1, 1, run_logs, follow_flags()},
      {"events", "", look, "show what happened to runtimes", 0, 0, run_events, follow_flags()},
      {"send", "NAME [MESSAGE|-]", talk,
       "send a message, or each line of input, to a client's server or a server's clients", 1, 2,
       run_send},
      {"daemon", "", verb_group::system, "run the daemon, in the foreground", 0, 0, run_daemon,
       daemon_flags()},
      {"doctor",
       "",
       verb_group::system,
       "check what this machine gives strata to work with",
       0,
       0,
       run_doctor,
       {{.key = "state_dir",
         .kind = text,
         .value_name = "DIR",
         .help = "state folder to check; else $STRATA_STATE_DIR"}}},
      {"version", "", verb_group::system, "show the versions of this program and the daemon", 0, 0,
       run_version},
      {"help", "[VERB]", verb_group::system, "show what there is, or what a verb takes", 0, 1,
       run_help},
  };
}

}  // namespace

std::span<const verb_row> verbs() {
  static const auto table = [] {
    auto all = runtime_verbs();
    for (auto& verb : other_verbs()) all.push_back(std::move(verb));
    return all;
  }();
  return table;
}

outcome<const verb_row*> find_verb(std::string_view name) {
  std::vector<std::string> known;
  for (const auto& verb : verbs()) {
    if (verb.name == name) return &verb;
    known.emplace_back(verb.name);
  }
  return refuse(exit_misused, fmt::format("there is no verb '{}'{}; 'strata --help' shows all",
                                          name, did_you_mean(name, known)));
}

std::span<const runtime::option_row> common_flags() {
  static const option_rows rows = {
      {.key = "format",
       .kind = choice,
       .value_name = "HOW",
       .default_text = "table",
       .help = "how data is shown",
       .choices = "table|json"},
      {.key = "quiet", .short_flag = 'q', .kind = flag, .help = "show names only"},
      {.key = "socket",
       .kind = text,
       .value_name = "PATH",
       .help = "the daemon's control socket; else $STRATA_SOCKET"},
      {.key = "help", .short_flag = 'h', .kind = flag, .help = "show this"},
  };
  return rows;
}

}  // namespace strata::cli
