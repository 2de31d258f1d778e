// Outgoing bytes, shared by all that send them.
//
// A `chunk` is a block of memory that is only ever appended to; a `slice` is a counted reference to
// a range of a chunk. A message that goes to a thousand connections is written once, and each
// connection holds a slice. The count is not atomic: chunks and slices stay on the thread of the
// loop on which they were created.
#pragma once

#include <cstddef>
#include <cstdint>
#include <cstdlib>
#include <cstring>
#include <new>
#include <string>
#include <utility>

#include "strata/base/bytes.hpp"

namespace strata::loop {

class chunk {
 public:
  [[nodiscard]] static chunk* make(std::uint32_t capacity) {
    void* memory = std::malloc(sizeof(chunk) + capacity);
    if (memory == nullptr) throw std::bad_alloc();
    return new (memory) chunk(capacity);
  }
  /// Returns a chunk that owns `text` and contains its bytes, with no room for more.
  [[nodiscard]] static chunk* of(std::string text) {
    void* memory = std::malloc(sizeof(chunk) + sizeof(std::string));
    if (memory == nullptr) throw std::bad_alloc();
    return new (memory) chunk(std::move(text));
  }
  chunk(const chunk&) = delete;
  chunk& operator=(const chunk&) = delete;

  void retain() { ++references_; }
  void release() {
    if (--references_ == 0) {
      this->~chunk();
      std::free(this);
    }
  }

  [[nodiscard]] std::uint32_t size() const { return size_; }
  [[nodiscard]] std::uint32_t capacity() const { return capacity_; }
  [[nodiscard]] std::uint32_t room() const { return capacity_ - size_; }
  [[nodiscard]] const std::byte* data() const { return data_; }

  /// Reports whether only the caller holds a reference.
  [[nodiscard]] bool unshared() const { return references_ == 1; }
  /// Discards the contents; only for an unshared chunk.
  void clear() { size_ = 0; }

  /// Returns the memory for appending: `room()` bytes, of which `take` adds the first `count` to
  /// the contents.
  [[nodiscard]] std::byte* tail() { return data_ + size_; }
  void take(std::uint32_t count) { size_ += count; }

  /// Appends `bytes`, which must fit into `room()`.
  void append(byte_span bytes) {
    if (bytes.empty()) return;
    std::memcpy(tail(), bytes.data(), bytes.size());
    size_ += static_cast<std::uint32_t>(bytes.size());
  }

 private:
  explicit chunk(std::uint32_t capacity)
      : data_(reinterpret_cast<std::byte*>(this + 1)), capacity_(capacity) {}
  explicit chunk(std::string text) : owns_text_(true) {
    auto& owned = *new (this + 1) std::string(std::move(text));
    data_ = reinterpret_cast<std::byte*>(owned.data());
    size_ = capacity_ = static_cast<std::uint32_t>(owned.size());
  }
  ~chunk() {
    if (owns_text_) std::launder(reinterpret_cast<std::string*>(this + 1))->~basic_string();
  }

  std::byte* data_;  // behind this object, or of the text that is there
  std::uint32_t references_ = 1;
  std::uint32_t size_ = 0;
  std::uint32_t capacity_;
  bool owns_text_ = false;
};
static_assert(sizeof(chunk) % alignof(std::string) == 0);

class slice {
 public:
  slice() = default;
  slice(chunk& source, std::uint32_t offset, std::uint32_t length)
      : chunk_(&source), offset_(offset), length_(length) {
    chunk_->retain();
  }
  /// Returns a slice that has a chunk of its own with a copy of `bytes` and `room` for more.
  static slice copy_of(byte_span bytes, std::uint32_t room = 0) {
    slice made;
    made.chunk_ = chunk::make(static_cast<std::uint32_t>(bytes.size()) + room);
    made.chunk_->append(bytes);
    made.length_ = static_cast<std::uint32_t>(bytes.size());
    return made;
  }
  /// Returns a slice of all of `text`: long text is not copied.
  static slice of(std::string text) {
    if (text.size() < shortest_owned) {
      return copy_of({reinterpret_cast<const std::byte*>(text.data()), text.size()});
    }
    slice made;
    made.length_ = static_cast<std::uint32_t>(text.size());
    made.chunk_ = chunk::of(std::move(text));
    return made;
  }
  slice(const slice& other) : chunk_(other.chunk_), offset_(other.offset_), length_(other.length_) {
    if (chunk_ != nullptr) chunk_->retain();
  }
  slice(slice&& other) noexcept
      : chunk_(std::exchange(other.chunk_, nullptr)),
        offset_(other.offset_),
        length_(std::exchange(other.length_, 0)) {}
  slice& operator=(slice other) noexcept {
    std::swap(chunk_, other.chunk_);
    std::swap(offset_, other.offset_);
    std::swap(length_, other.length_);
    return *this;
  }
  ~slice() {
    // The analyzer does not follow the count.
    if (chunk_ != nullptr) chunk_->release();  // NOLINT(clang-analyzer-unix.Malloc)
  }

  [[nodiscard]] std::uint32_t size() const { return length_; }
  [[nodiscard]] bool empty() const { return length_ == 0; }
  [[nodiscard]] byte_span bytes() const {
    return chunk_ == nullptr ? byte_span{} : byte_span{chunk_->data() + offset_, length_};
  }
  /// The size of the memory that this slice keeps alive.
  [[nodiscard]] std::uint32_t pinned() const { return chunk_ == nullptr ? 0 : chunk_->capacity(); }

  /// Extends the slice by `next` if that follows in the same chunk; reports whether it did.
  bool extend(const slice& next) {
    if (chunk_ != next.chunk_ || offset_ + length_ != next.offset_) return false;
    length_ += next.length_;
    return true;
  }
  /// Appends a copy of `bytes` if its chunk has room behind it and belongs to it alone; reports
  /// whether it did.
  bool append(byte_span bytes) {
    const bool has_room = chunk_ != nullptr && chunk_->unshared() &&
                          offset_ + length_ == chunk_->size() && chunk_->room() >= bytes.size();
    if (!has_room) return false;
    chunk_->append(bytes);
    length_ += static_cast<std::uint32_t>(bytes.size());
    return true;
  }
  /// Returns `count` bytes from `start` on, in the same chunk.
  [[nodiscard]] slice part(std::uint32_t start, std::uint32_t count) const {
    slice made = *this;
    made.offset_ += start;
    made.length_ = count;
    return made;
  }
  void remove_prefix(std::uint32_t count) {
    offset_ += count;
    length_ -= count;
  }

 private:
  // Copying less than this costs no more than a second block of memory.
  static constexpr std::size_t shortest_owned = 1024;

  chunk* chunk_ = nullptr;
  std::uint32_t offset_ = 0;
  std::uint32_t length_ = 0;
};

}  // namespace strata::loop
