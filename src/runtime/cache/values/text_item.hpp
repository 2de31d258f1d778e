// A single string in one block of memory: an element of tables of members.
#pragma once

#include <cstdint>
#include <cstring>
#include <new>
#include <string_view>

#include "runtime/cache/values/memory.hpp"

namespace strata::runtime::cache {

class text_item {
 public:
  /// Owned by the caller.
  [[nodiscard]] static text_item* make(std::string_view text) {
    auto* const made = new (allocate(sizeof(text_item) + text.size())) text_item;
    made->size_ = static_cast<std::uint32_t>(text.size());
    copy_text(made + 1, text);
    return made;
  }
  static void destroy(text_item* item) { release(item, sizeof(text_item) + item->size_); }
  [[nodiscard]] std::string_view text() const {
    return {reinterpret_cast<const char*>(this + 1), size_};
  }
  [[nodiscard]] std::size_t memory() const { return allocation_size(sizeof *this + size_); }

 private:
  std::uint32_t size_ = 0;
};

struct key_of_text {
  static std::string_view key(const text_item* item) { return item->text(); }
};

}  // namespace strata::runtime::cache
