// Commands to a cache that are given in full: as words, or as lines of standard input.
#pragma once

#include <string>
#include <vector>

#include "cli/line/invocation.hpp"
#include "cli/line/outcome.hpp"

namespace strata::cli {

/// Where a cache is, and what it is told if it wants a password.
struct cache_door {
  std::string endpoint;
  std::string password;
};

/// Sends one command and shows its reply: laid out on a terminal, as it is in a pipe, or as JSON.
/// After SUBSCRIBE and MONITOR it shows what comes until it is ended. Errors: what the cache
/// replies is one.
[[nodiscard]] outcome<int> run_cache_command(const invocation& call, const cache_door& door,
                                             const std::vector<std::string>& words);

/// The same for each line, quoted as for the prompt. A reply that is an error is reported, and the
/// next line goes on; the exit code tells.
[[nodiscard]] outcome<int> run_cache_lines(const invocation& call, const cache_door& door);

}  // namespace strata::cli
