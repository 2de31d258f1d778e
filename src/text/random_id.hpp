// Unique names for things that differ in nothing else.
#pragma once

#include <random>
#include <string>

namespace strata::text {

/// 40 hexadecimal digits.
[[nodiscard]] std::string random_id(std::mt19937_64& source);

}  // namespace strata::text
