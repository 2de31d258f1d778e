// The number of connections of all loops together. Several threads update it, once per connection.
#pragma once

#include <atomic>
#include <cstdint>
#include <utility>

namespace strata::serve {

class connection_gauge {
  struct places {
    connection_gauge& gauge;
    bool are_limited;
  };

 public:
  connection_gauge() = default;
  connection_gauge(const connection_gauge&) = delete;
  connection_gauge& operator=(const connection_gauge&) = delete;
  ~connection_gauge() = default;

  /// The place of one connection; the destructor frees it. In the size of a pointer: there may be
  /// very many.
  class place {
   public:
    place() = default;
    explicit place(const places& places) : of_(&places) {}
    place(place&& other) noexcept : of_(std::exchange(other.of_, nullptr)) {}
    place& operator=(place&& other) noexcept {
      std::swap(of_, other.of_);
      return *this;
    }
    place(const place&) = delete;
    place& operator=(const place&) = delete;
    ~place() {
      if (of_ == nullptr) return;
      of_->gauge.now_.fetch_sub(1, std::memory_order_relaxed);
      if (of_->are_limited) of_->gauge.limited_.fetch_sub(1, std::memory_order_relaxed);
    }
    [[nodiscard]] explicit operator bool() const { return of_ != nullptr; }

   private:
    const places* of_ = nullptr;
  };

  /// Takes a place, unless `limit` places are taken (0: no limit).
  [[nodiscard]] place enter(std::uint64_t limit) {
    const auto limited = limited_.fetch_add(1, std::memory_order_relaxed) + 1;
    const auto now = now_.fetch_add(1, std::memory_order_relaxed) + 1;
    place taken(within_limit_);
    if (limit != 0 && limited > limit) return {};
    note(now);
    return taken;
  }
  /// Takes a place outside the limit: for a peer without a connection, which has a limit of its
  /// own.
  [[nodiscard]] place enter_beside() {
    note(now_.fetch_add(1, std::memory_order_relaxed) + 1);
    return place(beside_limit_);
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

  const places within_limit_{*this, true};
  const places beside_limit_{*this, false};
  std::atomic<std::uint64_t> now_ = 0;
  std::atomic<std::uint64_t> limited_ = 0;  // present places that count towards the limit
  std::atomic<std::uint64_t> peak_ = 0;
  std::atomic<std::uint64_t> total_ = 0;
};

}  // namespace strata::serve
