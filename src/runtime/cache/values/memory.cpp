#include "runtime/cache/values/memory.hpp"

#include <cstdlib>
#include <new>

#include "strata/base/huge_pages.hpp"

namespace strata::runtime::cache {

namespace detail {
thread_local constinit std::int64_t* charged_account = nullptr;
}

charging::charging(std::int64_t& account) : before_(detail::charged_account) {
  detail::charged_account = &account;
}

charging::~charging() { detail::charged_account = before_; }

void* allocate(std::size_t size) {
  void* const memory = std::malloc(size);
  if (memory == nullptr) throw std::bad_alloc();
  use_huge_pages(memory, size);
  charge(static_cast<std::int64_t>(allocation_size(size)));
  return memory;
}

void release(void* memory, std::size_t size) noexcept {
  if (memory == nullptr) return;
  charge(-static_cast<std::int64_t>(allocation_size(size)));
  std::free(memory);
}

void* reallocate(void* memory, std::size_t size, std::size_t new_size) {
  void* const moved = std::realloc(memory, new_size);
  if (moved == nullptr) throw std::bad_alloc();
  use_huge_pages(moved, new_size);
  charge(static_cast<std::int64_t>(allocation_size(new_size)) -
         static_cast<std::int64_t>(memory == nullptr ? 0 : allocation_size(size)));
  return moved;
}

}  // namespace strata::runtime::cache
