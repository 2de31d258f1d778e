// A sorted set of integers, each in as few bytes as the largest needs: the form of small sets of
// numbers. Its memory is a Redis intset, header included.
#pragma once

#include <cstdint>
#include <optional>
#include <string_view>
#include <utility>

namespace strata::runtime::cache {

class int_set {
 public:
  int_set() = default;
  int_set(const int_set& other);
  int_set(int_set&& other) noexcept { swap(other); }
  int_set& operator=(int_set other) noexcept {
    swap(other);
    return *this;
  }
  ~int_set();
  void swap(int_set& other) noexcept { std::swap(memory_, other.memory_); }

  [[nodiscard]] std::size_t size() const { return memory_ == nullptr ? 0 : header(4); }
  [[nodiscard]] std::size_t memory() const;
  /// The smallest has index 0.
  [[nodiscard]] std::int64_t operator[](std::size_t index) const;
  [[nodiscard]] bool contains(std::int64_t value) const { return search(value).found; }
  /// Inserts an integer; reports whether it is new.
  bool insert(std::int64_t value);
  /// Removes an integer; reports whether it existed.
  bool erase(std::int64_t value);

  /// Returns the set as a Redis intset.
  [[nodiscard]] std::string_view dump() const;
  /// Loads a Redis intset; nullopt if it is none, or not sorted.
  [[nodiscard]] static std::optional<int_set> load(std::string_view dumped);

 private:
  struct position {
    std::size_t index;
    bool found;
  };
  [[nodiscard]] position search(std::int64_t value) const;
  [[nodiscard]] std::uint32_t header(std::size_t offset) const;
  [[nodiscard]] unsigned width() const { return memory_ == nullptr ? 2 : header(0); }
  void set(std::size_t index, std::int64_t value);
  void resize(std::size_t count, unsigned width);
  void widen(unsigned width);

  // Width and count, 4 bytes each, little-endian; the integers. Most of these sets have few: how
  // large the block is follows from both.
  unsigned char* memory_ = nullptr;
};

}  // namespace strata::runtime::cache
