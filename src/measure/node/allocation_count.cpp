#include "measure/node/allocation_count.hpp"

#include <cstdlib>
#include <new>

#if defined(__SANITIZE_ADDRESS__) || defined(__SANITIZE_THREAD__)

namespace strata::measure {

std::optional<std::uint64_t> allocation_count() { return std::nullopt; }

}  // namespace strata::measure

#else

namespace {

thread_local std::uint64_t count = 0;

void* allocate(std::size_t size) {
  ++count;
  if (void* const memory = std::malloc(size == 0 ? 1 : size)) return memory;
  throw std::bad_alloc();
}

}  // namespace

// All other forms call these; those for large alignments remain the library's, uncounted.
void* operator new(std::size_t size) { return allocate(size); }
void operator delete(void* memory) noexcept { std::free(memory); }
void operator delete(void* memory, std::size_t) noexcept { std::free(memory); }

namespace strata::measure {

std::optional<std::uint64_t> allocation_count() { return count; }

}  // namespace strata::measure

#endif
