// When the fields of a hash expire: a table of the fields that have a time, in their order too. A
// hash owns one only while it has such fields.
#pragma once

#include <optional>
#include <set>
#include <string_view>

#include "runtime/cache/values/charged_allocator.hpp"
#include "runtime/cache/values/hash_table.hpp"

namespace strata::runtime::cache {

class field_times {
 public:
  field_times() = default;
  field_times(const field_times& other);
  field_times& operator=(const field_times&) = delete;
  ~field_times();

  static void* operator new(std::size_t size) { return allocate(size); }
  static void operator delete(void* memory, std::size_t size) { release(memory, size); }

  [[nodiscard]] std::size_t size() const { return order_.size(); }
  /// Returns the field's time, in milliseconds since 1970; nullopt if it has none.
  [[nodiscard]] std::optional<std::int64_t> find(std::string_view name) const;
  /// Sets the field's time.
  void set(std::string_view name, std::int64_t at_ms);
  /// Removes the field's time; reports whether it had one.
  bool erase(std::string_view name);

  /// Return the first time, and its field, which is valid until a change. There must be one.
  [[nodiscard]] std::int64_t first_ms() const { return (*order_.begin())->at_ms; }
  [[nodiscard]] std::string_view first_name() const { return (*order_.begin())->name(); }
  /// Returns how many fields have a time that is not later than `now_ms`.
  [[nodiscard]] std::size_t count_until(std::int64_t now_ms) const;

  [[nodiscard]] std::size_t memory() const;
  /// Removes up to `steps` times; reports whether there are more.
  bool shed(std::size_t steps);

 private:
  // A time and the name of its field, in one block of memory.
  struct timed_name {
    std::int64_t at_ms;
    std::uint32_t size;

    [[nodiscard]] static timed_name* make(std::string_view name, std::int64_t at_ms);
    static void destroy(timed_name* name);
    [[nodiscard]] std::string_view name() const {
      return {reinterpret_cast<const char*>(this + 1), size};
    }
    [[nodiscard]] std::size_t block_size() const { return sizeof *this + size; }
  };
  struct name_key {
    static std::string_view key(const timed_name* item) { return item->name(); }
  };
  struct earlier {
    bool operator()(const timed_name* left, const timed_name* right) const {
      if (left->at_ms != right->at_ms) return left->at_ms < right->at_ms;
      return std::less<>{}(left, right);
    }
  };

  hash_table<timed_name*, name_key> names_;
  std::set<timed_name*, earlier, charged_allocator<timed_name*>> order_;
};

}  // namespace strata::runtime::cache
