// Standard input, line by line.
#pragma once

#include <functional>
#include <string_view>

#include "cli/line/outcome.hpp"

namespace strata::cli {

/// Calls `take` for each line, without its `\n`, until the input ends or `take` fails.
[[nodiscard]] outcome<> for_each_input_line(const std::function<outcome<>(std::string_view)>& take);

}  // namespace strata::cli
