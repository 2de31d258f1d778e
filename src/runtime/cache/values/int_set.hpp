// A sorted set of integers, in as few bytes each as the largest needs: how small sets of numbers
// are kept. Its memory is an intset of Redis, header included.
#pragma once

#include <cstdint>
#include <optional>
#include <string_view>

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
  void swap(int_set& other) noexcept;

  [[nodiscard]] std::size_t size() const { return count_; }
  [[nodiscard]] std::size_t memory() const { return capacity_; }
  /// The smallest has index 0.
  [[nodiscard]] std::int64_t operator[](std::size_t index) const;
  [[nodiscard]] bool contains(std::int64_t value) const { return search(value).found; }
  /// Says whether it is new.
  bool insert(std::int64_t value);
  /// Says whether it was there.
  bool erase(std::int64_t value);

  /// As an intset of Redis.
  [[nodiscard]] std::string_view dump() const;
  /// From an intset of Redis; nothing when it is none, or is not sorted.
  [[nodiscard]] static std::optional<int_set> load(std::string_view dumped);

 private:
  struct position {
    std::size_t index;
    bool found;
  };
  [[nodiscard]] position search(std::int64_t value) const;
  void set(std::size_t index, std::int64_t value);
  void resize(std::size_t count);
  void widen(unsigned width);
  void write_header();

  unsigned char* memory_ = nullptr;  // width and count, 4 bytes each, little-endian; the integers
  std::uint32_t capacity_ = 0;
  std::uint32_t count_ = 0;
  unsigned width_ = 2;
};

}  // namespace strata::runtime::cache
