// Names by which caches tell streams of changes, and runs of a cache, from one another.
#pragma once

#include <random>
#include <string>

namespace strata::runtime::cache {

/// 40 hexadecimal digits.
[[nodiscard]] std::string random_id(std::mt19937_64& source);

}  // namespace strata::runtime::cache
