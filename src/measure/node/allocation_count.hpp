// Counts the calling thread's allocations, to show that sending and receiving frames allocates
// nothing.
#pragma once

#include <cstdint>
#include <optional>

namespace strata::measure {

/// Returns this thread's calls of operator new so far. nullopt in builds with a sanitizer, which
/// has its own operator new.
[[nodiscard]] std::optional<std::uint64_t> allocation_count();

}  // namespace strata::measure
