// A counter, the unit of statistics.
#pragma once

#include <array>
#include <atomic>
#include <cstdint>

namespace strata::options {

/// A number that one thread changes and all may read, without a lock. A copy holds the value at the
/// moment of copying.
class counter {
 public:
  counter() = default;
  counter(const counter& other) : value_(other.get()) {}
  counter& operator=(const counter& other) {
    set(other.get());
    return *this;
  }
  ~counter() = default;

  void set(std::uint64_t value) { value_.store(value, std::memory_order_relaxed); }
  void add(std::uint64_t count = 1) { set(get() + count); }
  /// Raises it to `value` if that is more.
  void raise(std::uint64_t value) {
    if (value > get()) set(value);
  }
  [[nodiscard]] std::uint64_t get() const { return value_.load(std::memory_order_relaxed); }

 private:
  std::atomic<std::uint64_t> value_ = 0;
};

/// Counts by case, such as messages dropped by reason. A figure's row names the cases; there may be
/// at most as many as this has counters.
using case_counters = std::array<counter, 40>;

}  // namespace strata::options
