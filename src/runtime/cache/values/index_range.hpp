// Ranges of indexes in commands: counted from the end if negative, both ends inclusive.
#pragma once

#include <algorithm>
#include <cstddef>
#include <cstdint>

namespace strata::runtime::cache {

struct index_range {
  std::size_t first = 0;
  std::size_t count = 0;
};

/// Returns the part of the range that exists among `size` elements.
[[nodiscard]] inline index_range clamp_range(std::int64_t first, std::int64_t last,
                                             std::size_t size) {
  const auto count = static_cast<std::int64_t>(size);
  if (first < 0) first = std::max<std::int64_t>(first + count, 0);
  if (last < 0) last += count;
  last = std::min(last, count - 1);
  if (first > last) return {};
  return {static_cast<std::size_t>(first), static_cast<std::size_t>(last - first + 1)};
}

}  // namespace strata::runtime::cache
