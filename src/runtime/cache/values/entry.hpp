// A key and its value, in one block of memory for strings: header, time of expiry if it has one,
// key, and the string's bytes. Larger kinds of values are objects of their own (`collection`).
#pragma once

#include <cstdint>
#include <memory>
#include <optional>
#include <string_view>
#include <utility>

#include "runtime/cache/values/memory.hpp"
#include "text/redis_number.hpp"

namespace strata::runtime::cache {

enum class value_kind : std::uint8_t { string, list, set, sorted_set, hash };
/// As TYPE says it.
[[nodiscard]] std::string_view name_of(value_kind type);

/// A value that is more than a string. Its memory is charged to the cache.
class collection {
 public:
  collection() = default;
  collection(const collection&) = default;
  collection& operator=(const collection&) = delete;
  virtual ~collection() = default;

  [[nodiscard]] virtual value_kind type() const = 0;
  /// Elements, fields or members. A key whose value has none is removed.
  [[nodiscard]] virtual std::size_t size() const = 0;
  [[nodiscard]] virtual std::unique_ptr<collection> clone() const = 0;
  /// As OBJECT ENCODING says it.
  [[nodiscard]] virtual std::string_view encoding() const = 0;
  /// Bytes of memory, about.
  [[nodiscard]] virtual std::size_t memory() const = 0;
  /// Frees some of its elements, of at most `steps` buckets or nodes, and says whether there are
  /// more. Of no use after that but to be destroyed.
  virtual bool shed(std::size_t steps) = 0;

  static void* operator new(std::size_t size) { return allocate(size); }
  static void operator delete(void* memory, std::size_t size) { release(memory, size); }
};

class entry {
 public:
  static constexpr std::int64_t never = -1;

  /// A string; kept as an integer when it prints as one. Owned by the caller.
  [[nodiscard]] static entry* make_text(std::string_view key, std::string_view text,
                                        std::int64_t expires_at_ms = never);
  /// A string that is not kept as an integer, whatever it says. `changed` shows in its encoding.
  [[nodiscard]] static entry* make_bytes(std::string_view key, std::string_view bytes,
                                         std::int64_t expires_at_ms = never, bool changed = true);
  [[nodiscard]] static entry* make(std::string_view key, std::unique_ptr<collection> value,
                                   std::int64_t expires_at_ms = never);
  /// The same value under `key`, with that time of expiry. A collection goes over to it: `source`
  /// is good only to be destroyed.
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
  /// Of an entry that has a time of expiry already.
  void change_expiry(std::int64_t at_ms);
  [[nodiscard]] std::size_t memory() const;
  /// As OBJECT ENCODING says it.
  [[nodiscard]] std::string_view encoding() const;

  // --- strings
  [[nodiscard]] std::int64_t integer() const { return value_.integer; }
  /// A string that is no integer.
  [[nodiscard]] std::string_view text() const {
    return {bytes() + key_offset() + key_size_, value_.text.size};
  }
  /// Bytes that the text may have without another block.
  [[nodiscard]] std::size_t capacity() const { return is_integer() ? 0 : value_.text.capacity; }
  /// Makes it `text` if that can be done in this block without wasting much of it.
  [[nodiscard]] bool assign(std::string_view text);
  void assign_integer(std::int64_t value);
  /// The text's bytes, for changes in place; `size` at most `capacity()`. It counts as changed.
  [[nodiscard]] char* resize_text(std::size_t size);

  // --- collections
  template <class Value>
  [[nodiscard]] Value& as() const {
    return static_cast<Value&>(*value_.object);
  }
  [[nodiscard]] collection& object() const { return *value_.object; }
  void set_object(std::unique_ptr<collection> value);
  /// The entry is good only to be destroyed after that.
  [[nodiscard]] std::unique_ptr<collection> take_object() {
    return std::unique_ptr<collection>(std::exchange(value_.object, nullptr));
  }

  /// 24 bits: seconds of the last use (LRU), or minutes and a logarithmic counter (LFU).
  [[nodiscard]] std::uint32_t access() const { return access_; }
  void set_access(std::uint32_t value) { access_ = value & 0xFFFFFFU; }

  /// A snapshot's mark: see database.hpp.
  [[nodiscard]] bool mark() const { return (flags_ & mark_flag) != 0; }
  void set_mark(bool value) { flags_ = ((flags_ & ~mark_flag) | (value ? mark_flag : 0U)) & 0xFU; }

 private:
  static constexpr std::uint32_t integer_flag = 1;
  static constexpr std::uint32_t expiry_flag = 2;
  static constexpr std::uint32_t changed_flag =
      4;  // a string that APPEND and its like have changed
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

/// A string value's bytes; of an integer, its digits.
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
