// The number of connections of all loops together. Several threads update it, once per connection.
#pragma once

#include <atomic>
#include <cstdint>
#include <utility>

namespace strata::serve {

class connection_gauge {
 public:
  /// The place of one connection; the destructor frees it.
  class place {
   public:
    place() = default;
    place(connection_gauge& gauge, bool is_limited) : of_(&gauge), is_limited_(is_limited) {}
    place(place&& other) noexcept
        : of_(std::exchange(other.of_, nullptr)), is_limited_(other.is_limited_) {}
    place& operator=(place&& other) noexcept {
      std::swap(of_, other.of_);
      std::swap(is_limited_, other.is_limited_);
      return *this;
    }
    place(const place&) = delete;
    place& operator=(const place&) = delete;
    ~place() {
      if (of_ == nullptr) return;
      of_->now_.fetch_sub(1, std::memory_order_relaxed);
      if (is_limited_) of_->limited_.fetch_sub(1, std::memory_order_relaxed);
    }
    [[nodiscard]] explicit operator bool() const { return of_ != nullptr; }

   private:
    connection_gauge* of_ = nullptr;
    bool is_limited_ = false;
  };

  /// Takes a place, unless `limit` places are taken (0: no limit).
  [[nodiscard]] place enter(std::uint64_t limit) {
    const auto limited = limited_.fetch_add(1, std::memory_order_relaxed) + 1;
    const auto now = now_.fetch_add(1, std::memory_order_relaxed) + 1;
    place taken(*this, true);
    if (limit != 0 && limited > limit) return {};
    note(now);
    return taken;
  }
  /// Takes a place outside the limit: for a peer without a connection, which has a limit of its
  /// own.
  [[nodiscard]] place enter_beside() {
    note(now_.fetch_add(1, std::memory_order_relaxed) + 1);
    return {*this, false};
  }

  [[nodiscard]] std::uint64_t now() const { return now_.load(std::memory_order_relaxed); }
  [[nodiscard]] std::uint64_t peak() const { return peak_.load(std::memory_order_relaxed); }
  [[nodiscard]] std::uint64_t total() const { return total_.load(std::memory_order_relaxed); }

 private:
  void note(std::uint64_t now) {
    total_.fetch_add(1, std::memory_order_relaxed);
    auto peak = peak_.load(std::memory_order_relaxed);
    while (now > peak && !peak_.compare_exchange_weak(peak, now, std::memory_order_relaxed)) {
    }
  }

  std::atomic<std::uint64_t> now_ = 0;
  std::atomic<std::uint64_t> limited_ = 0;  // present places that count towards the limit
  std::atomic<std::uint64_t> peak_ = 0;
  std::atomic<std::uint64_t> total_ = 0;
};

}  // namespace strata::serve
