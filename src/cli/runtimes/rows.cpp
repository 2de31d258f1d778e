#include "cli/runtimes/rows.hpp"

namespace strata::cli {

namespace {

using enum options::option_kind;
using enum verb_group;

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

}  // namespace

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
         .help = "send each line of input and show what comes, of a cache: a prompt for its "
                 "commands; Ctrl-C or the input's end detaches, the runtime goes on"}}},
      {"stop", "NAME|GLOB...", runtimes, "stop runtimes", 1, any_number, run_stop},
      {"restart", "NAME|GLOB...", runtimes, "stop runtimes if they run, then start them", 1,
       any_number, run_restart},
      {"reload", "NAME|GLOB...", runtimes,
       "have runtimes read their certificates again; those without, and those whose options wait "
       "for it, are restarted if they run",
       1, any_number, run_reload},
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
      {"remove",
       "NAME|GLOB...",
       runtimes,
       "stop runtimes if they run, and forget them",
       1,
       any_number,
       run_remove,
       {},
       nullptr,
       {"rm"}},
      {"ls",
       "",
       look,
       "list all runtimes",
       0,
       0,
       run_ls,
       columns_flag(),
       nullptr,
       {"list", "status"}},
      {"ps", "", look, "list running runtimes", 0, 0, run_ps, columns_flag()},
      {"show",
       "NAME|GLOB...",
       look,
       "show runtimes with all their options",
       1,
       any_number,
       run_show,
       {},
       nullptr,
       {"inspect"}},
      {"stats", "NAME|GLOB...", look, "show counters and rates", 1, any_number, run_stats,
       columns_flag()},
      {"owner", "NAME", look, "show a runtime's owner and children", 1, 1, run_owner},
      {"logs", "NAME", look, "show a runtime's log", 1, 1, run_logs, follow_flags()},
      {"events", "", look, "show what happened to runtimes", 0, 0, run_events, follow_flags()},
      {"send", "NAME [MESSAGE|-]", talk,
       "send a message, or each line of input, to a client's server or a server's clients", 1, 2,
       run_send},
  };
}

}  // namespace strata::cli
