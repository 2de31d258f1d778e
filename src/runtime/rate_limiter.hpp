// "At most N per second", as one number: the generic cell rate algorithm (ITU-T I.371). A burst of
// one second's worth is allowed.
#pragma once

#include <atomic>
#include <cstdint>

namespace strata::runtime {

inline constexpr std::int64_t one_second_ns = 1'000'000'000;

/// Whether one more is admitted now. `due`, kept by the caller, is the time when the next one is.
[[nodiscard]] inline bool admit(std::int64_t& due, std::int64_t now_ns, std::uint64_t per_second) {
  if (per_second == 0) return true;
  const auto step = one_second_ns / static_cast<std::int64_t>(per_second);
  const auto base = due > now_ns ? due : now_ns;
  if (base - now_ns > one_second_ns - step) return false;
  due = base + step;
  return true;
}

/// After a refusal: how long until one is admitted.
[[nodiscard]] inline std::int64_t admitted_in_ns(std::int64_t due, std::int64_t now_ns,
                                                 std::uint64_t per_second) {
  if (per_second == 0) return 0;
  const auto step = one_second_ns / static_cast<std::int64_t>(per_second);
  const auto left = due - (one_second_ns - step) - now_ns;
  return left > 0 ? left : 0;
}

/// The same, for all threads together.
class shared_rate_limiter {
 public:
  [[nodiscard]] bool allow(std::int64_t now_ns, std::uint64_t per_second) {
    if (per_second == 0) return true;
    auto due = due_.load(std::memory_order_relaxed);
    for (;;) {
      auto next = due;
      if (!admit(next, now_ns, per_second)) return false;
      if (due_.compare_exchange_weak(due, next, std::memory_order_relaxed)) return true;
    }
  }

 private:
  std::atomic<std::int64_t> due_ = 0;
};

}  // namespace strata::runtime
