// strata nl generate: what a family's specification says, as a C++ header.
#pragma once

#include "cli/line/invocation.hpp"
#include "cli/line/outcome.hpp"

namespace strata::cli {

/// Prints the header, formatted where there is a clang-format.
outcome<int> run_nl_generate(const invocation& call);

}  // namespace strata::cli
