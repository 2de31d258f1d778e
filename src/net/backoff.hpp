// How long to wait before the next attempt: twice as long after each that failed, with up to half
// of it taken off by chance, so that many clients of one server that came back do not all come at
// once.
#pragma once

#include <algorithm>
#include <cmath>
#include <cstdint>
#include <random>

#include "loop/timer.hpp"

namespace strata::net {

class backoff {
 public:
  /// `seed` 0: one by chance.
  explicit backoff(std::uint64_t seed = 0) : random_(seed != 0 ? seed : std::random_device{}()) {}

  /// An attempt has failed. From `least_s` to `most_s` seconds, or `least_s` if that is more.
  [[nodiscard]] loop::duration next(double least_s, double most_s) {
    const auto doublings = static_cast<double>(std::min<std::uint64_t>(failures_++, 30));
    const double wait = std::min(least_s * std::exp2(doublings), std::max(most_s, least_s));
    return loop::from_seconds(wait * std::uniform_real_distribution<double>(0.5, 1.0)(random_));
  }
  /// Attempts that have failed since the last success.
  [[nodiscard]] std::uint64_t failures() const { return failures_; }
  void succeeded() { failures_ = 0; }

 private:
  std::mt19937_64 random_;
  std::uint64_t failures_ = 0;
};

}  // namespace strata::net
