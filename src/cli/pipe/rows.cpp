#include "cli/pipe/rows.hpp"

#include "cli/pipe/options.hpp"

namespace strata::cli {

namespace {

option_rows pipe_flags() {
  auto rows = options::rows_of(pipe_option_table());
  rows.push_back({.key = "quiet",
                  .short_flag = 'q',
                  .kind = options::option_kind::flag,
                  .help = "do not print the address it listens at"});
  return rows;
}

}  // namespace

std::vector<verb_row> pipe_verbs() {
  return {
      {"pipe", "END END", verb_group::talk,
       "pass data between two ends; each is a URL, listen:URL, or - for standard input and output",
       2, 2, run_pipe, pipe_flags()},
  };
}

}  // namespace strata::cli
