// Huge pages for large blocks of memory.
#pragma once

#include <cstddef>

namespace strata {

/// Malloc gives blocks of more than this, and never smaller ones, mappings of their own.
inline constexpr std::size_t large_block = std::size_t{32} << 20U;

/// Asks the kernel for huge pages for a block of `size` bytes that malloc has just given: filling
/// half a GiB takes a third of the time then. Does nothing for a block of up to `large_block`, and
/// nothing is different where the kernel refuses.
void use_huge_pages(void* memory, std::size_t size);

}  // namespace strata
