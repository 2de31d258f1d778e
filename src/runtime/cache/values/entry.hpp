// A key and its value, in one block of memory for strings: header, time of expiry if it has one,
// key, and the string's bytes. Other types of values are objects of their own (`collection`).
#pragma once

#include <cstdint>
#include <memory>
#include <optional>
#include <string_view>
#include <utility>

#include "runtime/cache/values/memory.hpp"
#include "text/redis_number.hpp"

namespace strata::runtime::cache {

enum class value_kind : std::uint8_t { string, list, set, sorted_set, hash, stream };
/// Returns the type's name, as in TYPE.
[[nodiscard]] std::string_view name_of(value_kind type);

/// A value other than a string. Its memory is charged to the cache.
class collection {
 public:
  collection() = default;
  collection(const collection&) = default;
  collection& operator=(const collection&) = delete;
  virtual ~collection() = default;

  [[nodiscard]] virtual value_kind type() const = 0;
  /// The number of elements, fields, members or entries. A key whose value has none is removed,
  /// except for a stream.
  [[nodiscard]] virtual std::size_t size() const = 0;
  [[nodiscard]] virtual std::unique_ptr<collection> clone() const = 0;
  /// Returns the encoding, as in OBJECT ENCODING.
  [[nodiscard]] virtual std::string_view encoding() const = 0;
  /// Returns the approximate memory in bytes.
  [[nodiscard]] virtual std::size_t memory() const = 0;
  /// Frees some of its elements, of at most `steps` buckets or nodes, and reports whether there are
  /// more. Afterwards it may only be destroyed.
  virtual bool shed(std::size_t steps) = 0;

  static void* operator new(std::size_t size) { return allocate(size); }
  static void operator delete(void* memory, std::size_t size) { release(memory, size); }
};

class entry {
 public:
  static constexpr std::int64_t never = -1;

  /// Creates a string; stores it as an integer if that prints as the same text. Owned by the
  /// caller.
  [[nodiscard]] static entry* make_text(std::string_view key, std::string_view text,
                                        std::int64_t expires_at_ms = never);
  /// Creates a string that is not stored as an integer, whatever its text. `changed` affects its
  /// encoding.
  [[nodiscard]] static entry* make_bytes(std::string_view key, std::string_view bytes,
                                         std::int64_t expires_at_ms = never, bool changed = true);
  [[nodiscard]] static entry* make(std::string_view key, std::unique_ptr<collection> value,
                                   std::int64_t expires_at_ms = never);
  /// Creates an entry with the same value under `key`, with that time of expiry. A collection is
  /// moved to it: `source` may then only be destroyed.
  [[nodiscard]] static entry* move_from(entry& source, std::string_view key,
                                        std::int64_t expires_at_ms);
  /// As `move_from` under the same key, with room for a text of `size` bytes; an integer becomes
  /// its digits.
  [[nodiscard]] static entry* grow_text(entry& source, std::size_t size);
  static void destroy(entry* which);

  entry(const entry&) = delete;
  entry& operator=(const entry&) = delete;

  [[nodiscard]] std::string_view key() const { return {bytes() + key_offset(), key_size_}; }
  [[nodiscard]] value_kind type() const { return static_cast<value_kind>(type_); }
  [[nodiscard]] bool is_string() const { return type() == value_kind::string; }
  [[nodiscard]] bool is_integer() const { return (flags_ & integer_flag) != 0; }
  [[nodiscard]] bool has_expiry() const { return (flags_ & expiry_flag) != 0; }
  /// Milliseconds since 1970, or `never`.
  [[nodiscard]] std::int64_t expires_at_ms() const;
  /// Call it only for an entry that has a time of expiry.
  void change_expiry(std::int64_t at_ms);
  [[nodiscard]] std::size_t memory() const;
  /// Returns the encoding, as in OBJECT ENCODING.
  [[nodiscard]] std::string_view encoding() const;

  // --- strings
  [[nodiscard]] std::int64_t integer() const { return value_.integer; }
  /// For a string that is not stored as an integer.
  [[nodiscard]] std::string_view text() const {
    return {bytes() + key_offset() + key_size_, value_.text.size};
  }
  /// The most bytes of text that fit into this block.
  [[nodiscard]] std::size_t capacity() const { return is_integer() ? 0 : value_.text.capacity; }
  /// Sets the text if it fits into this block without wasting much of it; reports whether it did.
  [[nodiscard]] bool assign(std::string_view text);
  void assign_integer(std::int64_t value);
  /// Returns the text's bytes, for changes in place; `size` is at most `capacity()`. Counts as
  /// changed.
  [[nodiscard]] char* resize_text(std::size_t size);

  // --- collections
  template <class Value>
  [[nodiscard]] Value& as() const {
    return static_cast<Value&>(*value_.object);
  }
  [[nodiscard]] collection& object() const { return *value_.object; }
  void set_object(std::unique_ptr<collection> value);
  /// Afterwards the entry may only be destroyed.
  [[nodiscard]] std::unique_ptr<collection> take_object() {
    return std::unique_ptr<collection>(std::exchange(value_.object, nullptr));
  }

  /// 24 bits: seconds of the last access (LRU), or minutes and a logarithmic counter (LFU).
  [[nodiscard]] std::uint32_t access() const { return access_; }
  void set_access(std::uint32_t value) { access_ = value & 0xFFFFFFU; }

  /// A snapshot's mark: see database.hpp.
  [[nodiscard]] bool mark() const { return (flags_ & mark_flag) != 0; }
  void set_mark(bool value) { flags_ = ((flags_ & ~mark_flag) | (value ? mark_flag : 0U)) & 0xFU; }

 private:
  static constexpr std::uint32_t integer_flag = 1;
  static constexpr std::uint32_t expiry_flag = 2;
  static constexpr std::uint32_t changed_flag =
      4;  // a string changed by APPEND and similar commands
  static constexpr std::uint32_t mark_flag = 8;
  static constexpr std::size_t header_size = 16;

  union payload {
    std::int64_t integer;
    struct {
      std::uint32_t size;
      std::uint32_t capacity;
    } text;
    collection* object;
  };

  entry() = default;
  ~entry() = default;
  static entry* make_block(std::string_view key, std::size_t room, std::int64_t expires_at_ms);
  [[nodiscard]] const char* bytes() const { return reinterpret_cast<const char*>(this); }
  [[nodiscard]] char* bytes() { return reinterpret_cast<char*>(this); }
  [[nodiscard]] std::size_t key_offset() const {
    return header_size + (has_expiry() ? sizeof(std::int64_t) : 0);
  }
  [[nodiscard]] std::size_t block_size() const {
    return key_offset() + key_size_ + (is_string() ? capacity() : 0U);
  }

  std::uint32_t key_size_ = 0;
  std::uint32_t access_ : 24 = 0;
  std::uint32_t type_ : 4 = 0;
  std::uint32_t flags_ : 4 = 0;
  payload value_{};
};

/// The bytes of a string value; for an integer, its digits.
class string_view_of {
 public:
  explicit string_view_of(const entry& entry) {
    if (entry.is_integer()) digits_.emplace(entry.integer());
    text_ = digits_ ? digits_->view() : entry.text();
  }
  string_view_of(const string_view_of&) = delete;
  string_view_of& operator=(const string_view_of&) = delete;
  [[nodiscard]] std::string_view view() const { return text_; }

 private:
  std::optional<text::integer_text> digits_;
  std::string_view text_;
};

}  // namespace strata::runtime::cache
