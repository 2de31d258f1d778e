// A rate limit for a peer's actions: a budget that refills with time.
#pragma once

#include <algorithm>
#include <chrono>
#include <cstdint>

namespace strata::proto {

class http2_budget {
 public:
  using time_point = std::chrono::steady_clock::time_point;

  /// Allows at most `most` at once, and `per_second` in the long run.
  http2_budget(std::uint32_t most, std::uint32_t per_second)
      : most_(most), per_second_(per_second), left_(most) {}

  /// Takes one unit. Returns false if none is left.
  [[nodiscard]] bool take(time_point now) {
    if (left_ == 0) refill(now);
    if (left_ == 0) return false;
    if (left_ == most_) since_ = now;
    --left_;
    return true;
  }

 private:
  void refill(time_point now) {
    using seconds = std::chrono::duration<double>;
    const auto earned = std::max(0.0, seconds(now - since_).count() * per_second_);
    if (earned < 1) return;
    left_ = static_cast<std::uint32_t>(std::min<double>(most_, earned));
    since_ = now;
  }

  std::uint32_t most_;
  std::uint32_t per_second_;
  std::uint32_t left_;
  time_point since_;
};

}  // namespace strata::proto
