// How many connections there are, of all loops together. Several threads write it, once a
// connection.
#pragma once

#include <atomic>
#include <cstdint>
#include <utility>

namespace strata::serve {

class connection_gauge {
 public:
  /// One connection's place; free again when this is destroyed.
  class place {
   public:
    place() = default;
    explicit place(connection_gauge& of) : of_(&of) {}
    place(place&& other) noexcept : of_(std::exchange(other.of_, nullptr)) {}
    place& operator=(place&& other) noexcept {
      std::swap(of_, other.of_);
      return *this;
    }
    place(const place&) = delete;
    place& operator=(const place&) = delete;
    ~place() {
      if (of_ != nullptr) of_->now_.fetch_sub(1, std::memory_order_relaxed);
    }
    [[nodiscard]] explicit operator bool() const { return of_ != nullptr; }

   private:
    connection_gauge* of_ = nullptr;
  };

  /// Takes a place, unless `limit` (0: none) are taken.
  [[nodiscard]] place enter(std::uint64_t limit) {
    const auto now = now_.fetch_add(1, std::memory_order_relaxed) + 1;
    place taken(*this);
    if (limit != 0 && now > limit) return {};
    total_.fetch_add(1, std::memory_order_relaxed);
    auto peak = peak_.load(std::memory_order_relaxed);
    while (now > peak && !peak_.compare_exchange_weak(peak, now, std::memory_order_relaxed)) {
    }
    return taken;
  }

  [[nodiscard]] std::uint64_t now() const { return now_.load(std::memory_order_relaxed); }
  [[nodiscard]] std::uint64_t peak() const { return peak_.load(std::memory_order_relaxed); }
  [[nodiscard]] std::uint64_t total() const { return total_.load(std::memory_order_relaxed); }

 private:
  std::atomic<std::uint64_t> now_ = 0;
  std::atomic<std::uint64_t> peak_ = 0;
  std::atomic<std::uint64_t> total_ = 0;
};

}  // namespace strata::serve
