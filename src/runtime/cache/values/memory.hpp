// The memory of a cache's data, and its account: who works for a cache charges it for what is
// allocated, so that `maxmemory` costs an addition and no look at the allocator.
#pragma once

#include <cstddef>
#include <cstdint>
#include <cstring>
#include <string_view>

namespace strata::runtime::cache {

/// While it lives, allocations of this thread are charged to `account`, in bytes.
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

/// For nobody's account if nobody is charged.
inline void charge(std::int64_t bytes) {
  if (detail::charged_account != nullptr) *detail::charged_account += bytes;
}

/// What an allocation of `size` bytes really takes, about.
[[nodiscard]] constexpr std::size_t allocation_size(std::size_t size) {
  if (size <= 128) return (size + 15) & ~std::size_t{15};
  // Four size classes to a doubling, as jemalloc has them.
  const auto quarter = std::size_t{1} << (61U - static_cast<unsigned>(__builtin_clzll(size - 1)));
  return (size + quarter - 1) & ~(quarter - 1);
}

/// Copies a text, which may be empty and then be nowhere: memcpy must not be asked for that.
inline void copy_text(void* bytes, std::string_view text) {
  if (!text.empty()) std::memcpy(bytes, text.data(), text.size());
}

/// Asks for the cache line at `memory`, which need not be valid.
inline void prefetch_line(const void* memory) {
  __builtin_prefetch(memory);
  // GCC 12 takes a function that only prefetches for one without an effect and drops its calls.
  asm volatile("" : : "r"(memory));
}

/// Throws std::bad_alloc, which ends the process: state on disk is safe at any moment.
[[nodiscard]] void* allocate(std::size_t size);
/// `size` as it was allocated.
void release(void* memory, std::size_t size) noexcept;
/// Keeps the first bytes, as many as fit.
[[nodiscard]] void* reallocate(void* memory, std::size_t size, std::size_t new_size);

}  // namespace strata::runtime::cache
