// Doubles as Redis prints them.
#pragma once

#include <string_view>

namespace strata::text {

/// 17 significant digits, as C's "%.17g" prints them; "inf", "-inf". The text may be in `buffer`.
[[nodiscard]] std::string_view format_real(double value, char (&buffer)[40]);

}  // namespace strata::text
