// The verbs that are made from the rows of operations.
#pragma once

#include <string_view>
#include <vector>

#include "cli/line/verb.hpp"
#include "cli/terminal/table.hpp"

namespace strata::cli {

/// The columns that the rows of an operation's answer make.
[[nodiscard]] const std::vector<column>& columns_of(std::string_view operation);

/// One for each operation of any type that no verb asks for yet.
[[nodiscard]] std::vector<verb_row> operation_verbs();

}  // namespace strata::cli
