#include "cli/stack/rows.hpp"

#include <iterator>
#include <utility>

namespace strata::cli {

namespace {

using enum options::option_kind;

option_rows with_file_flags(option_rows own) {
  option_rows rows = {{.key = "file",
                       .short_flag = 'f',
                       .kind = text,
                       .value_name = "FILE",
                       .help = "the stack; - for standard input (default: strata.yaml or "
                               "strata.yml in the current folder)"},
                      {.key = "set",
                       .kind = list,
                       .value_name = "NAME=VALUE",
                       .help = "value of a variable of the stack; overrides the environment and "
                               "the stack's own; repeatable"}};
  std::ranges::move(own, std::back_inserter(rows));
  return rows;
}

}  // namespace

std::vector<verb_row> stack_verbs() {
  std::vector<verb_row> rows = {
      {"up", "[NAME...]", verb_group::runtimes,
       "create, change and start the runtimes of a stack; repeating it changes nothing", 0,
       any_number, run_up,
       with_file_flags(
           {{.key = "dry_run", .kind = flag, .help = "print what would change, and change nothing"},
            {.key = "restart",
             .kind = flag,
             .help = "restart running runtimes if a change needs it"},
            {.key = "prune",
             .kind = flag,
             .help = "remove runtimes that the stack has created and no longer describes"},
            {.key = "wait",
             .kind = flag,
             .help = "wait until all runtimes run without a warning and the backends of their "
                     "proxies can be used, at most --wait-timeout"},
            {.key = "wait_timeout",
             .kind = seconds,
             .value_name = "TIME",
             .default_text = "60s",
             .help = "longest wait of --wait; then up fails",
             .only_with = "wait"},
            {.key = "rollback",
             .kind = flag,
             .help = "on failure, make the runtimes as they were before"}})},
      {"down", "", verb_group::runtimes, "remove the runtimes that a stack has created", 0, 0,
       run_down,
       with_file_flags({{.key = "dry_run",
                         .kind = flag,
                         .help = "print what would be removed, and remove nothing"},
                        {.key = "name",
                         .kind = text,
                         .value_name = "STACK",
                         .help = "name of the stack, without its file"}})},
      {"diff", "[NAME...]", verb_group::look,
       "show how runtimes differ from their description in a stack; exits with 1 if any does", 0,
       any_number, run_diff, with_file_flags({})},
      {"export",
       "[NAME|GLOB|@GROUP]...",
       verb_group::look,
       "print runtimes as a stack, with the options that differ from the defaults",
       0,
       any_number,
       run_export,
       {{.key = "name",
         .kind = text,
         .value_name = "STACK",
         .help = "name of the stack (default: that of the runtimes, if they share one)"}}},
      {"lint", "", verb_group::look, "check a stack without a daemon", 0, 0, run_lint,
       with_file_flags({{.key = "schema",
                         .kind = flag,
                         .help = "print the JSON Schema of stacks, for editors"}})},
  };
  for (auto& each : rows) each.serves_several_daemons = true;
  return rows;
}

}  // namespace strata::cli
