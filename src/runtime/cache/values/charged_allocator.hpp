// Lets a container of the standard library charge its memory to the cache.
#pragma once

#include <cstddef>
#include <string>

#include "runtime/cache/values/memory.hpp"

namespace strata::runtime::cache {

template <class Value>
struct charged_allocator {
  using value_type = Value;

  charged_allocator() = default;
  template <class Other>
  explicit(false) charged_allocator(const charged_allocator<Other>& /*other*/) {}

  [[nodiscard]] Value* allocate(std::size_t count) {
    return static_cast<Value*>(cache::allocate(count * sizeof(Value)));
  }
  void deallocate(Value* memory, std::size_t count) noexcept {
    release(memory, count * sizeof(Value));
  }
  template <class Other>
  bool operator==(const charged_allocator<Other>& /*other*/) const {
    return true;
  }
};

using charged_string = std::basic_string<char, std::char_traits<char>, charged_allocator<char>>;

/// Returns the memory that the text takes beside the object.
[[nodiscard]] inline std::size_t memory_of(const charged_string& text) {
  const bool is_inside = text.capacity() <= charged_string().capacity();
  return is_inside ? 0 : allocation_size(text.capacity() + 1);
}

/// Returns the memory that an element of a std::map or std::set takes, with the node around it.
template <class Tree>
[[nodiscard]] constexpr std::size_t node_memory() {
  using element = Tree::value_type;
  return allocation_size(4 * sizeof(void*) + sizeof(element));
}

/// Orders charged strings by their bytes, and finds them by views.
struct charged_string_order {
  using is_transparent = void;
  bool operator()(std::string_view left, std::string_view right) const { return left < right; }
};

}  // namespace strata::runtime::cache
