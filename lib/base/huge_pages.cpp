#include "strata/base/huge_pages.hpp"

#include <sys/mman.h>
#include <unistd.h>

#include <cstdint>

namespace strata {

void use_huge_pages(void* memory, std::size_t size) {
  if (size <= large_block) return;
  // A few bytes of malloc's own lie in front of the block, in the same page.
  const auto page = static_cast<std::uintptr_t>(::sysconf(_SC_PAGESIZE));
  const auto offset = reinterpret_cast<std::uintptr_t>(memory) % page;
  (void)::madvise(static_cast<char*>(memory) - offset, size + offset, MADV_HUGEPAGE);
}

}  // namespace strata
