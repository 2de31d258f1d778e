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

namespace detail {

// Zero if the texts have the same `Word` at `offset`.
template <class Word>
[[nodiscard]] Word difference(std::string_view first, std::string_view second, std::size_t offset) {
  Word left = 0;
  Word right = 0;
  std::memcpy(&left, first.data() + offset, sizeof left);
  std::memcpy(&right, second.data() + offset, sizeof right);
  return static_cast<Word>(left ^ right);
}

// Compares texts of one or two words of the type.
template <class Word>
[[nodiscard]] bool is_same(std::string_view first, std::string_view second) {
  const auto last = first.size() - sizeof(Word);
  return (difference<Word>(first, second, 0) | difference<Word>(first, second, last)) == 0;
}

}  // namespace detail

/// Reports whether two texts are equal. Those of up to 32 bytes, such as most keys and names, are
/// compared without a call.
[[nodiscard]] inline bool same_bytes(std::string_view first, std::string_view second) {
  const auto size = first.size();
  if (size != second.size()) return false;
  if (size > 32) return first == second;
  if (size > 16) {
    constexpr std::size_t half = 16;
    return detail::is_same<std::uint64_t>(first.substr(0, half), second.substr(0, half)) &&
           detail::is_same<std::uint64_t>(first.substr(size - half), second.substr(size - half));
  }
  if (size >= 8) return detail::is_same<std::uint64_t>(first, second);
  if (size >= 4) return detail::is_same<std::uint32_t>(first, second);
  if (size >= 2) return detail::is_same<std::uint16_t>(first, second);
  return size == 0 || first[0] == second[0];
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
