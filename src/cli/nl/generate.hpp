// strata nl generate: a family's specification as a C++ header.
#pragma once

#include "cli/line/invocation.hpp"
#include "cli/line/outcome.hpp"

namespace strata::cli {

/// Prints the header, formatted if clang-format is installed.
outcome<int> run_nl_generate(const invocation& call);

}  // namespace strata::cli
