// Huge pages for large blocks of memory.
#pragma once

#include <cstddef>

namespace strata {

/// Malloc gives each block larger than this a mapping of its own, and smaller blocks never.
inline constexpr std::size_t large_block = std::size_t{32} << 20U;

/// Requests huge pages from the kernel for a block of `size` bytes fresh from malloc: filling half
/// a GiB then takes a third of the time. Does nothing for a block of up to `large_block`, and has
/// no effect if the kernel refuses.
void use_huge_pages(void* memory, std::size_t size);

}  // namespace strata
