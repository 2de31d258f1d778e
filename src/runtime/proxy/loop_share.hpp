// What one of a proxy's loops has of a limit that is for all of them.
#pragma once

#include <algorithm>
#include <cstddef>
#include <cstdint>

namespace strata::runtime::proxy {

struct loop_share {
  std::size_t number = 0;  ///< of this loop, from 0
  std::size_t count = 1;   ///< of loops

  /// The shares of all loops are the limit, unless that gives one of them less than 1. 0 is none.
  [[nodiscard]] std::uint64_t of(std::uint64_t limit) const {
    if (limit == 0) return 0;
    const std::uint64_t own = limit / count + (number < limit % count ? 1 : 0);
    return std::max<std::uint64_t>(own, 1);
  }
};

}  // namespace strata::runtime::proxy
