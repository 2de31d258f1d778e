// The memory of a cache's data, and its account: work for a cache charges the cache for its
// allocations, so that `maxmemory` costs an addition and no query of the allocator.
#pragma once

#include <cstddef>
#include <cstdint>
#include <cstring>
#include <string_view>

namespace strata::runtime::cache {

/// While it lives, charges allocations of this thread to `account`, in bytes.
class charging {
 public:
  explicit charging(std::int64_t& account);
  ~charging();
  charging(const charging&) = delete;
  charging& operator=(const charging&) = delete;

 private:
  std::int64_t* before_;
};

namespace detail {
extern thread_local constinit std::int64_t* charged_account;
}

/// Charges the current account, if there is one.
inline void charge(std::int64_t bytes) {
  if (detail::charged_account != nullptr) *detail::charged_account += bytes;
}

/// Returns how much memory an allocation of `size` bytes takes, and has room for: the program is
/// linked with jemalloc, whose size classes are four per doubling.
[[nodiscard]] constexpr std::size_t allocation_size(std::size_t size) {
  if (size <= 8) return 8;
  if (size <= 128) return (size + 15) & ~std::size_t{15};
  const auto quarter = std::size_t{1} << (61U - static_cast<unsigned>(__builtin_clzll(size - 1)));
  return (size + quarter - 1) & ~(quarter - 1);
}

/// Copies a text, which may be empty with a null pointer: memcpy does not allow that.
inline void copy_text(void* bytes, std::string_view text) {
  if (!text.empty()) std::memcpy(bytes, text.data(), text.size());
}

/// Prefetches the cache line at `memory`, which need not be valid.
inline void prefetch_line(const void* memory) {
  __builtin_prefetch(memory);
  // GCC 12 considers a function that only prefetches to have no effect, and drops its calls.
  asm volatile("" : : "r"(memory));
}

/// Throws std::bad_alloc, which ends the process: the state on disk is safe at any moment.
[[nodiscard]] void* allocate(std::size_t size);
/// `size` must be the allocated size.
void release(void* memory, std::size_t size) noexcept;
/// Keeps as many of the first bytes as fit.
[[nodiscard]] void* reallocate(void* memory, std::size_t size, std::size_t new_size);

}  // namespace strata::runtime::cache
