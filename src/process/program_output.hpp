// What another program prints.
#pragma once

#include <string>
#include <vector>

#include "strata/base/result.hpp"

namespace strata::process {

/// Runs `words` (the program first, as a path or to be found by PATH) until it ends, and gives its
/// standard output; standard error stays this process's. Errors: not_found when there is no such
/// program; connection_closed, with its exit code, when it failed.
[[nodiscard]] result<std::string> output_of(std::vector<std::string> words);

}  // namespace strata::process
