// The manual page, strata(1), made from the tables that help is made from.
#pragma once

#include <string>

#include "cli/line/invocation.hpp"

namespace strata::cli {

/// In the macros of man(7).
[[nodiscard]] std::string manual_page();

}  // namespace strata::cli
