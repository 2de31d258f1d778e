// How often the calling thread asked for memory: shows that a frame's way allocates nothing.
#pragma once

#include <cstdint>
#include <optional>

namespace strata::measure {

/// Calls of operator new by this thread so far. nullopt in builds with a sanitizer, which has an
/// operator new of its own.
[[nodiscard]] std::optional<std::uint64_t> allocation_count();

}  // namespace strata::measure
