// Shell completion of a word: from the tables of verbs and options, and the existing runtimes,
// interfaces and families.
#pragma once

#include <string>
#include <vector>

#include "cli/line/invocation.hpp"

namespace strata::cli {

/// Returns the completions of the last word, which may be empty; the words before it are those
/// behind `strata`. A silent daemon counts as having no runtimes.
[[nodiscard]] std::vector<std::string> completions_of(const std::vector<std::string>& words,
                                                      daemon_address daemon);

/// Called by the shells' completion scripts (packaging/completions): prints the completions, one
/// per line.
outcome<int> run_complete(const invocation& call);

}  // namespace strata::cli
