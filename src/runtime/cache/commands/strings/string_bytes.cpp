#include "runtime/cache/commands/strings/string_bytes.hpp"

#include <algorithm>
#include <cstring>

#include "runtime/cache/engine/call.hpp"

namespace strata::runtime::cache {

char* widen(call& c, entry*& found, std::size_t size) {
  const auto hash = c.hash(1);
  if (found == nullptr) found = c.add(entry::make_text(c[1], {}), hash);
  const auto before = string_view_of(*found).view().size();
  if (found->is_integer() || found->capacity() < size) {
    // Reserves half as much again, so that a string that grows often is seldom moved.
    constexpr std::size_t most_ahead = 1U << 20U;
    const auto room = std::max(size + std::min(size / 2, most_ahead), before);
    entry* const fresh = entry::grow_text(*found, room);
    c.data().replace(found, fresh, hash);
    found = fresh;
  }
  char* const bytes = found->resize_text(std::max(size, before));
  if (size > before) std::memset(bytes + before, 0, size - before);
  return bytes;
}

}  // namespace strata::runtime::cache
