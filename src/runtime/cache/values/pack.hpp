// A sequence of short strings and integers in one block of memory: the form of small hashes and
// sorted sets, and of the parts of lists. Each element is encoded as in Redis's listpack, so that a
// dump is a copy. Source: listpack.md of Redis (the format), redis.io.
//
// Both ends have spare room: pushing and popping there does not move the rest. An element is
// identified by its offset, which any change before or behind it may change.
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <utility>

#include "runtime/cache/values/memory.hpp"
#include "strata/base/bytes.hpp"
#include "text/redis_number.hpp"

namespace strata::runtime::cache {

/// One element: text, or an integer that represents its digits.
class element {
 public:
  explicit element(std::string_view text) : text_(text) {}
  explicit element(std::int64_t integer) : integer_(integer) {}

  /// Returns the text, which is valid as long as this object, while the pack is unchanged. An
  /// integer's digits are created on first use.
  [[nodiscard]] std::string_view text() const {
    if (!integer_) return text_;
    if (!digits_) digits_.emplace(*integer_);
    return digits_->view();
  }
  [[nodiscard]] std::optional<std::int64_t> integer() const { return integer_; }

 private:
  std::string_view text_;
  mutable std::optional<text::integer_text> digits_;
  std::optional<std::int64_t> integer_;
};

class pack {
 public:
  using offset = std::uint32_t;
  static constexpr offset none = UINT32_MAX;
  /// The additional bytes of Redis's header and end mark.
  static constexpr std::size_t envelope_size = 7;

  pack() = default;
  pack(const pack& other);
  pack(pack&& other) noexcept { swap(other); }
  pack& operator=(pack other) noexcept {
    swap(other);
    return *this;
  }
  ~pack();
  void swap(pack& other) noexcept;

  [[nodiscard]] std::size_t size() const { return count_; }
  [[nodiscard]] bool empty() const { return count_ == 0; }
  /// Returns the bytes of the elements, with Redis's envelope.
  [[nodiscard]] std::size_t bytes() const { return end_ - begin_ + envelope_size; }
  /// Returns the bytes of allocated memory.
  [[nodiscard]] std::size_t memory() const {
    return memory_ == nullptr ? 0 : allocation_size(capacity_);
  }

  // Offsets of elements; `none` if there is no such element.
  [[nodiscard]] offset first() const { return count_ == 0 ? none : begin_; }
  [[nodiscard]] offset last() const { return count_ == 0 ? none : previous_of(end_); }
  [[nodiscard]] offset next(offset at) const {
    const offset following = at + size_at(at);
    return following == end_ ? none : following;
  }
  [[nodiscard]] offset previous(offset offset) const {
    return offset == begin_ ? none : previous_of(offset);
  }
  /// Returns the offset of the element with this index, counted from the end if negative.
  [[nodiscard]] offset seek(std::int64_t index) const;

  [[nodiscard]] element at(offset offset) const;
  /// As `at`, for integers only.
  [[nodiscard]] std::optional<std::int64_t> integer_at(offset offset) const;
  /// Finds the first element equal to `text` from `offset` on, comparing every `step`-th.
  [[nodiscard]] offset find(std::string_view text, offset offset, unsigned step = 1) const;
  [[nodiscard]] bool equals(offset offset, std::string_view text) const;

  // Changes. The text must not be a view into this pack.
  void push_back(std::string_view text) { insert_bytes(end_, text); }
  void push_front(std::string_view text) { insert_bytes(begin_, text); }
  /// Inserts before the element at `offset`, or at the end if that is `none`.
  void insert(offset offset, std::string_view text) {
    insert_bytes(offset == none ? end_ : offset, text);
  }
  /// Replaces the element at `where`; returns its new offset.
  offset replace(offset where, std::string_view text);
  /// Removes `count` elements from `where` on; returns the offset of the next one, or `none`.
  offset erase(offset where, std::size_t count = 1);
  void clear() { *this = {}; }
  /// Frees unused room.
  void shrink();

  /// Returns the pack as a Redis listpack, header and end mark included.
  [[nodiscard]] std::string dump() const;
  /// Loads a Redis listpack. Returns nullopt if it is not one: every length is checked.
  [[nodiscard]] static std::optional<pack> load(std::string_view dumped);

 private:
  [[nodiscard]] offset size_at(offset at) const;
  [[nodiscard]] offset previous_of(offset at) const;
  [[nodiscard]] offset find_short(std::string_view text, offset offset, unsigned step) const;
  void insert_bytes(offset where, std::string_view text);
  // Opens a gap of `size` bytes before `where`; returns where it begins.
  offset open_gap(offset where, offset size);
  void make_room(offset size, bool at_front);

  unsigned char* memory_ = nullptr;
  std::uint32_t capacity_ = 0;
  std::uint32_t begin_ = 0;
  std::uint32_t end_ = 0;
  std::uint32_t count_ = 0;
};

}  // namespace strata::runtime::cache
