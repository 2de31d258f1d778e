#include "cli/verbs.hpp"

#include "cli/bench/rows.hpp"
#include "cli/cert/rows.hpp"
#include "cli/cluster/rows.hpp"
#include "cli/completion.hpp"
#include "cli/daemon_client/names.hpp"
#include "cli/help.hpp"
#include "cli/l2/rows.hpp"
#include "cli/lua/rows.hpp"
#include "cli/nl/rows.hpp"
#include "cli/pipe/rows.hpp"
#include "cli/runtimes/rows.hpp"
#include "cli/stack/rows.hpp"
#include "cli/system/rows.hpp"
#include "cli/xdp/rows.hpp"

namespace strata::cli {

using enum options::option_kind;

std::span<const verb_row> verbs() {
  static const auto table = [] {
    std::vector<verb_row> all;
    for (const auto rows : {runtime_verbs, pipe_verbs, l2_verbs, xdp_verbs, nl_verbs, bench_verbs,
                            cert_verbs, lua_verbs, stack_verbs, cluster_verbs, system_verbs}) {
      for (auto& verb : rows()) all.push_back(std::move(verb));
    }
    for (auto& verb : all) {
      if (has_label_flag(verb)) verb.flags.push_back(label_flag());
    }
    all.push_back(
        {"help",
         "[VERB [TYPE]]",
         verb_group::system,
         "list all verbs, or show the flags of a verb",
         0,
         3,
         run_help,
         {{.key = "man", .kind = flag, .help = "print the whole help as a manual page"}}});
    all.push_back({"complete", "-- WORD...", verb_group::system,
                   "list what a shell can complete the last word to", 0, any_number, run_complete});
    return all;
  }();
  return table;
}

std::span<const options::option_row> common_flags() {
  static const option_rows rows = {
      {.key = "format",
       .kind = choice,
       .value_name = "HOW",
       .default_text = "table",
       .help = "output format",
       .choices = "table|json"},
      {.key = "quiet", .short_flag = 'q', .kind = flag, .help = "print names only"},
      {.key = "socket",
       .kind = text,
       .value_name = "PATH",
       .help = "control socket of the daemon; overrides $STRATA_SOCKET"},
      {.key = "on",
       .kind = text,
       .value_name = "DAEMON|GLOB|KEY=VALUE",
       .help = "the daemon of that name in the cluster of this one, or each that fits or has this "
               "label"},
      {.key = "all", .kind = flag, .help = "each daemon of the cluster, as --on '*'"},
      {.key = "timeout",
       .kind = seconds,
       .value_name = "TIME",
       .default_text = "30s",
       .help = "longest wait for an answer from the daemon, or for a sign of progress; 0 means no "
               "limit; overrides $STRATA_TIMEOUT"},
      {.key = "help", .short_flag = 'h', .kind = flag, .help = "show this help"},
  };
  return rows;
}

option_rows common_flags_of(const verb_row& verb) {
  option_rows rows;
  for (const auto& row : common_flags()) {
    if (!has_own_flag(verb, row.key)) rows.push_back(row);
  }
  return rows;
}

}  // namespace strata::cli
