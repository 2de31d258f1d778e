// The terminal that a person looks at, if there is one.
#pragma once

#include <cstddef>

namespace strata::cli {

/// Whether standard output is a terminal.
[[nodiscard]] bool has_screen();

/// How many columns a line may take: as many as the terminal has, and 100 where there is none or
/// it does not tell. At least 40, so that text can be laid out.
[[nodiscard]] std::size_t screen_width();
/// How many lines it has: 24 where it does not tell.
[[nodiscard]] std::size_t screen_height();

}  // namespace strata::cli
