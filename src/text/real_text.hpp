// Doubles in Redis's format.
#pragma once

#include <string_view>

namespace strata::text {

/// Formats with 17 significant digits, as C's "%.17g" does; "inf", "-inf". The text may lie in
/// `buffer`.
[[nodiscard]] std::string_view format_real(double value, char (&buffer)[40]);

}  // namespace strata::text
