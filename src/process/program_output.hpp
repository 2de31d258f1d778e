// The output of another program.
#pragma once

#include <string>
#include <vector>

#include "strata/base/result.hpp"

namespace strata::process {

/// Runs `words` (the program first, as a path or a name to find in PATH) until it ends, and returns
/// its standard output; standard error is that of this process. Errors: not_found if there is no
/// such program; connection_closed, with its exit code, if it failed.
[[nodiscard]] result<std::string> output_of(std::vector<std::string> words);

}  // namespace strata::process
