// Non-interactive commands to a cache: as words, or as lines of standard input.
#pragma once

#include <string>
#include <vector>

#include "cli/line/invocation.hpp"
#include "cli/line/outcome.hpp"

namespace strata::cli {

/// A cache's address, and the password if it requires one.
struct cache_access {
  std::string endpoint;
  std::string password;
};

/// Sends one command and shows its reply: formatted on a terminal, raw in a pipe, or as JSON. After
/// SUBSCRIBE and MONITOR it shows what arrives until it is ended. Errors: the cache replies with
/// one.
[[nodiscard]] outcome<int> run_cache_command(const invocation& call, const cache_access& access,
                                             const std::vector<std::string>& words);

/// The same for each line, quoted as at the prompt. An error reply is reported, and the next line
/// is sent; the exit code shows it.
[[nodiscard]] outcome<int> run_cache_lines(const invocation& call, const cache_access& access);

}  // namespace strata::cli
