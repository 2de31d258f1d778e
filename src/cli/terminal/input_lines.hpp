// Standard input, line by line.
#pragma once

#include <functional>
#include <optional>
#include <string>
#include <string_view>

#include "cli/line/outcome.hpp"

namespace strata::cli {

/// Calls `take` for each line, without its `\n`, until the input ends or `take` fails.
[[nodiscard]] outcome<> for_each_input_line(const std::function<outcome<>(std::string_view)>& take);

/// Reads one line of standard input, byte by byte, so that the rest is left for others. Nullopt at
/// its end.
[[nodiscard]] std::optional<std::string> read_typed_line();

}  // namespace strata::cli
