// The manual page, strata(1), generated from the same tables as the help.
#pragma once

#include <string>

#include "cli/line/invocation.hpp"

namespace strata::cli {

/// Uses the macros of man(7).
[[nodiscard]] std::string manual_page();

}  // namespace strata::cli
