// The verbs generated from the rows of operations.
#pragma once

#include <string_view>
#include <vector>

#include "cli/line/verb.hpp"
#include "cli/terminal/table.hpp"

namespace strata::cli {

/// The columns generated from the rows of an operation's answer.
[[nodiscard]] const std::vector<column>& columns_of(std::string_view operation);

/// One verb for each operation of any type that has no verb yet.
[[nodiscard]] std::vector<verb_row> operation_verbs();

}  // namespace strata::cli
