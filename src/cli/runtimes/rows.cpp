#include "cli/runtimes/rows.hpp"

#include <algorithm>

#include "cli/runtimes/operation.hpp"
#include "cli/terminal/listing.hpp"

namespace strata::cli {

namespace {

using enum options::option_kind;
using enum verb_group;

option_rows list_flags() {
  auto flags = table_flags();
  flags.push_back(
      {.key = "filter",
       .kind = list,
       .value_name = "KEY=GLOB",
       .help = "show only runtimes whose KEY (state, type, group, owner or name) matches GLOB; "
               "repeatable: globs of one key are alternatives, different keys must all match"});
  return flags;
}

option_rows top_flags() {
  return {{.key = "interval",
           .kind = seconds,
           .value_name = "TIME",
           .default_text = "1",
           .help = "refresh every TIME",
           .max = 3600},
          {.key = "count",
           .short_flag = 'n',
           .kind = count,
           .value_name = "N",
           .help = "print N tables and exit; without a terminal, 1",
           .max = 1'000'000,
           .min = 1},
          {.key = "sort",
           .kind = choice,
           .value_name = "BY",
           .default_text = "name",
           .help = "order of the runtimes: by name, or largest value first",
           .choices = "name|connections|in|out|bytes|errors|p99"},
          no_header_row()};
}

option_rows tap_flags() {
  auto rows = runtime::tap_rows();
  rows.push_back({.key = "hex",
                  .short_flag = 'x',
                  .kind = flag,
                  .help = "also print the bytes of each message"});
  rows.push_back({.key = "write",
                  .short_flag = 'w',
                  .kind = text,
                  .value_name = "FILE",
                  .help =
                      "write what passes to a pcapng file for Wireshark instead of printing it; "
                      "- means standard output"});
  return rows;
}

option_rows end_flags() {
  return {{.key = "timeout",
           .short_flag = 't',
           .kind = seconds,
           .value_name = "TIME",
           .help = "wait at most TIME for pending output; a cache that cannot save its data keeps "
                   "running"},
          {.key = "now", .kind = flag, .help = "discard pending output, and save nothing"}};
}

std::vector<verb_row> creating_verbs() {
  return {
      {"create",
       "TYPE NAME",
       runtimes,
       "create a runtime",
       2,
       2,
       run_create,
       {{.key = "start",
         .short_flag = 's',
         .kind = flag,
         .help = "also start it; if it does not start, nothing is created"},
        {.key = "dry_run", .kind = flag, .help = "check everything, but create nothing"}},
       type_by_name},
      {"add",
       "COMMAND [ARGUMENT...]",
       runtimes,
       "create a program that runs a command, with this folder as its working directory",
       1,
       any_number,
       run_add,
       {{.key = "name",
         .kind = text,
         .value_name = "NAME",
         .help = "name of the program (default: that of the command's file)"},
        {.key = "group",
         .short_flag = 'g',
         .kind = text,
         .value_name = "NAME",
         .help = "its group"},
        {.key = "start",
         .short_flag = 's',
         .kind = flag,
         .help = "also start it; if it does not start, nothing is created"},
        {.key = "dry_run", .kind = flag, .help = "check everything, but create nothing"}}},
      {"attach",
       "NAME [PORT]",
       runtimes,
       "watch a process that strata has not started, by its port, its id or both",
       1,
       2,
       run_attach,
       {{.key = "pid", .kind = text, .value_name = "PID", .help = "id of the process"},
        {.key = "managed",
         .kind = flag,
         .help = "'strata stop' ends the process, and 'strata signal' reaches it"},
        {.key = "group",
         .short_flag = 'g',
         .kind = text,
         .value_name = "NAME",
         .help = "its group"},
        {.key = "dry_run", .kind = flag, .help = "check everything, but create nothing"}}},
  };
}

verb_row exec_verb() {
  return {.name = "exec",
          .synopsis = "NAME COMMAND [ARGUMENT...]",
          .group = talk,
          .summary =
              "run a command beside a program, as its user, in its folder and with its "
              "environment; its exit code is the command's",
          .least_words = 2,
          .most_words = any_number,
          .run = run_exec,
          .flags = {{.key = "interactive",
                     .short_flag = 'i',
                     .kind = flag,
                     .help = "pass standard input on; otherwise the command's input is empty"},
                    {.key = "terminal",
                     .short_flag = 't',
                     .kind = flag,
                     .help = "run it at a terminal, which is this one; for shells and editors"},
                    {.key = "instance",
                     .kind = count,
                     .value_name = "N",
                     .default_text = "1",
                     .help = "the instance whose port and number the command gets",
                     .min = 1}},
          .first_of_command = 1};
}

std::vector<verb_row> changing_verbs() {
  return {
      {"start",
       "NAME|GLOB|@GROUP...",
       runtimes,
       "start runtimes",
       1,
       any_number,
       run_start,
       {{.key = "interactive",
         .short_flag = 'i',
         .kind = flag,
         .help = "send each line of input and print what arrives; for a cache, a prompt for "
                 "commands. Ctrl-C or the end of input detaches; the runtime keeps running"}}},
      {"stop", "NAME|GLOB|@GROUP...", runtimes, "stop runtimes", 1, any_number, run_stop,
       end_flags()},
      {"edit",
       "NAME|GLOB|@GROUP...",
       runtimes,
       "change the options of runtimes of one type; at a terminal without flags, opens those of a "
       "runtime in $VISUAL or $EDITOR",
       1,
       any_number,
       run_edit,
       {{.key = "reset",
         .kind = list,
         .value_name = "OPTION",
         .help = "reset an option to its default; repeatable"},
        {.key = "revision",
         .kind = count,
         .value_name = "N",
         .help = "change nothing if the runtime has another revision than N: 'strata show' has "
                 "it, and each change raises it"}},
       type_of_runtime},
      {"remove",
       "NAME|GLOB|@GROUP...",
       runtimes,
       "remove runtimes; stops those that run",
       1,
       any_number,
       run_remove,
       end_flags(),
       nullptr,
       {"rm"}},
  };
}

std::vector<verb_row> renewing_verbs() {
  return {
      {"restart", "NAME|GLOB|@GROUP...", runtimes, "restart runtimes; starts those that do not run",
       1, any_number, run_restart, end_flags()},
      {"reload", "NAME|GLOB|@GROUP...", runtimes,
       "reload certificates and reopen logs. Connections stay open, except if edits wait for a "
       "restart: then reload says so and restarts the runtime",
       1, any_number, run_reload},
      {"reload-lua", "NAME|GLOB|@GROUP...", runtimes,
       "reload the runtimes' scripts; if a script has an error, report it and keep the running one",
       1, any_number, run_reload_lua},
  };
}

std::vector<verb_row> looking_verbs() {
  return {
      {"ls",
       "[NAME|GLOB|@GROUP]...",
       look,
       "list runtimes",
       0,
       any_number,
       run_ls,
       list_flags(),
       nullptr,
       {"list", "status"}},
      {"ps", "[NAME|GLOB|@GROUP]...", look, "list running runtimes", 0, any_number, run_ps,
       list_flags()},
      {"show",
       "NAME|GLOB|@GROUP...",
       look,
       "show runtimes with all their options",
       1,
       any_number,
       run_show,
       {no_header_row()},
       nullptr,
       {"inspect"}},
      {"stats", "NAME|GLOB|@GROUP...", look, "show counters and rates", 1, any_number, run_stats,
       table_flags()},
      {"backends", "NAME [add|remove|drain|ready BACKEND]", look,
       "show the backends of a proxy, or change one; drain sends it no new connections", 1,
       any_number, run_backends, table_flags()},
      {"top", "[NAME|GLOB|@GROUP]...", look,
       "watch runtimes and the backends of proxies at a terminal; q quits", 0, any_number, run_top,
       top_flags()},
      {"owner",
       "NAME|GLOB|@GROUP...",
       look,
       "show the owner and the children of runtimes",
       1,
       any_number,
       run_owner,
       {no_header_row()}},
      {"logs", "[NAME|GLOB|@GROUP]...", look, "show the logs of runtimes (default: all)", 0,
       any_number, run_logs, stream_flags()},
      {"events", "", look, "show the events of all runtimes", 0, 0, run_events, stream_flags()},
      {"tap", "NAME|GLOB|@GROUP...", look,
       "show what passes through runtimes as it passes: messages, the heads of HTTP requests and "
       "answers, Redis commands, the bytes that a proxy forwards",
       1, any_number, run_tap, tap_flags()},
  };
}

}  // namespace

option_rows stream_flags() {
  return {{.key = "follow",
           .short_flag = 'f',
           .kind = flag,
           .help = "keep printing new lines until Ctrl-C"},
          {.key = "tail",
           .short_flag = 'n',
           .kind = count,
           .value_name = "N",
           .default_text = "1000",
           .help = "start with the last N lines",
           .max = 1000},
          {.key = "since",
           .kind = text,
           .value_name = "TIME",
           .help = "leave out older lines; TIME is a date such as 2026-03-04T12:00:00Z, or an age "
                   "such as 10m"}};
}

std::vector<verb_row> runtime_verbs() {
  auto all = creating_verbs();
  for (const auto rows : {changing_verbs, renewing_verbs, looking_verbs}) {
    for (auto& verb : rows()) all.push_back(std::move(verb));
  }
  all.push_back(
      {"send", "NAME [MESSAGE|-]", talk,
       "send a message, or each line of input, to a client's server or a server's clients", 1, 2,
       run_send});
  all.push_back(exec_verb());
  all.push_back(
      {"tell",
       "NAME [WORD...]",
       talk,
       "send a command to a cache, or a message to a server or client; without words, each line of "
       "input. Short form: 'strata NAME WORD...' if NAME is not a verb",
       1,
       any_number,
       run_tell,
       {{.key = "password",
         .kind = secret,
         .value_name = "PASSWORD",
         .help = "password of the cache; overrides $STRATA_CACHE_PASSWORD"}}});
  for (auto& verb : operation_verbs()) {
    const bool is_there = std::ranges::find(all, verb.name, &verb_row::name) != all.end();
    if (!is_there) all.push_back(std::move(verb));
  }
  return all;
}

}  // namespace strata::cli
