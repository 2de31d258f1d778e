// Comparison of secrets.
#pragma once

#include <string_view>

namespace strata::text {

/// Compares in constant time: a near miss takes as long as a far one. An empty secret equals an
/// empty guess.
[[nodiscard]] bool equal_in_constant_time(std::string_view guess, std::string_view secret);

}  // namespace strata::text
