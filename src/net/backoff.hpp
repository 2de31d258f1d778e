// The delay before the next attempt: it doubles after each failure, less up to half of it at
// random, so that the many clients of a server that restarts do not all reconnect at once.
#pragma once

#include <algorithm>
#include <cmath>
#include <cstdint>
#include <random>

#include "loop/timer.hpp"

namespace strata::net {

class backoff {
 public:
  /// `seed` 0 means a random seed.
  explicit backoff(std::uint64_t seed = 0) : random_(seed != 0 ? seed : std::random_device{}()) {}

  /// Records a failed attempt and returns the delay: from `least_s` to `most_s` seconds, or
  /// `least_s` if that is more.
  [[nodiscard]] loop::duration next(double least_s, double most_s) {
    const auto doublings = static_cast<double>(std::min<std::uint64_t>(failures_++, 30));
    const double wait = std::min(least_s * std::exp2(doublings), std::max(most_s, least_s));
    return loop::from_seconds(wait * std::uniform_real_distribution<double>(0.5, 1.0)(random_));
  }
  /// The number of failed attempts since the last success.
  [[nodiscard]] std::uint64_t failures() const { return failures_; }
  void succeeded() { failures_ = 0; }

 private:
  std::mt19937_64 random_;
  std::uint64_t failures_ = 0;
};

}  // namespace strata::net
