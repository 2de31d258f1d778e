// What a shell may complete a word of a command line to: from the tables of verbs and options, and
// what runtimes, interfaces and families there are.
#pragma once

#include <string>
#include <vector>

#include "cli/line/invocation.hpp"

namespace strata::cli {

/// What the last word, which may be empty, may become; the words before it are those behind
/// `strata`. A daemon that is silent has no runtimes.
[[nodiscard]] std::vector<std::string> completions_of(const std::vector<std::string>& words,
                                                      daemon_address daemon);

/// The hidden half of the shells' completions (packaging/completions): prints them, one a line.
outcome<int> run_complete(const invocation& call);

}  // namespace strata::cli
