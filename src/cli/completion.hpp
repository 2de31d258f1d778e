// What a shell may complete a word of a command line to, from the tables of verbs and options.
#pragma once

#include <string>
#include <vector>

#include "cli/line/invocation.hpp"

namespace strata::cli {

/// What the last word, which may be empty, may become; the words before it are those behind
/// `strata`. Runtimes' names are not among them.
[[nodiscard]] std::vector<std::string> completions_of(const std::vector<std::string>& words);

/// The hidden half of the shells' completions (packaging/completions): prints them, one a line.
outcome<int> run_complete(const invocation& call);

}  // namespace strata::cli
