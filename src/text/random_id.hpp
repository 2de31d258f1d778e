// Names that nobody else has, for what is told from its like by nothing else.
#pragma once

#include <random>
#include <string>

namespace strata::text {

/// 40 hexadecimal digits.
[[nodiscard]] std::string random_id(std::mt19937_64& source);

}  // namespace strata::text
