// The user's terminal, if there is one.
#pragma once

#include <cstddef>

namespace strata::cli {

/// Whether standard output is a terminal.
[[nodiscard]] bool has_screen();

/// The number of columns for a line: the terminal's, or 100 if there is none or its width is
/// unknown. At least 40, so that text can be laid out.
[[nodiscard]] std::size_t screen_width();
/// The number of lines: 24 if it is unknown.
[[nodiscard]] std::size_t screen_height();

}  // namespace strata::cli
