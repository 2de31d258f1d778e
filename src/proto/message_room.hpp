// Memory for a message that is gathered up to a limit.
#pragma once

#include <algorithm>
#include <cstddef>
#include <string>

namespace strata::proto {

/// Makes room in `held` for `more` bytes. The capacity doubles, as std::string's does, but not
/// beyond `limit` bytes in all, unless the contents and `more` need it.
inline void make_room(std::string& held, std::size_t more, std::size_t limit) {
  const auto needed = held.size() + more;
  if (needed <= held.capacity()) return;
  // std::string::reserve doubles too, whatever size is requested; only a new string takes exactly
  // the requested size.
  std::string grown;
  grown.reserve(std::max(needed, std::min(2 * held.capacity(), limit)));
  grown.append(held);
  held.swap(grown);
}

}  // namespace strata::proto
