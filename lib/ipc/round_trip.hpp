// The retransmission timeout, computed from measured round trips (RFC 6298).
#pragma once

#include <algorithm>
#include <chrono>

namespace strata::ipc {

class round_trip {
 public:
  using duration = std::chrono::nanoseconds;
  /// How long a sleeping peer may take to wake up on a busy machine.
  static constexpr duration least = std::chrono::milliseconds(20);
  static constexpr duration most = std::chrono::seconds(1);
  static constexpr duration initial = std::chrono::milliseconds(100);

  /// Records the round trip of a frame that was sent once.
  void measure(duration took) {
    if (smooth_ == duration::zero()) {
      smooth_ = took;
      deviation_ = took / 2;
      fastest_ = took;
    } else {
      deviation_ = (deviation_ * 3 + std::chrono::abs(smooth_ - took)) / 4;
      smooth_ = (smooth_ * 7 + took) / 8;
      fastest_ = std::min(fastest_, took);
    }
    timeout_ = std::clamp(smooth_ + 4 * deviation_, least, most);
  }
  /// Doubles the timeout when no acknowledgement came in time.
  void back_off() { timeout_ = std::min(timeout_ * 2, most); }

  [[nodiscard]] duration timeout() const { return timeout_; }
  /// The fastest measured round trip.
  [[nodiscard]] duration fastest() const { return fastest_; }

 private:
  duration smooth_{0};
  duration deviation_{0};
  duration fastest_{0};
  duration timeout_ = initial;
};

}  // namespace strata::ipc
