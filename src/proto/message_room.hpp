// Room for a message that is gathered up to a limit.
#pragma once

#include <algorithm>
#include <cstddef>
#include <string>

namespace strata::proto {

/// Lets `held` grow by `more` bytes. The room doubles, as std::string's own does, but not beyond
/// `limit` bytes in all, unless what is held and `more` need it.
inline void make_room(std::string& held, std::size_t more, std::size_t limit) {
  const auto needed = held.size() + more;
  if (needed <= held.capacity()) return;
  // std::string::reserve doubles too, whatever it is asked for; only a new string takes what it
  // is told.
  std::string grown;
  grown.reserve(std::max(needed, std::min(2 * held.capacity(), limit)));
  grown.append(held);
  held.swap(grown);
}

}  // namespace strata::proto
