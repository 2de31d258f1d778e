// Waiting in calls of the C ABI.
#pragma once

#include <chrono>
#include <optional>

#include "strata/l2/device.hpp"

namespace strata::abi {

/// Converts a timeout; below 0 means forever (nullopt).
[[nodiscard]] inline std::optional<std::chrono::milliseconds> limit_of(int timeout_ms) {
  if (timeout_ms < 0) return {};
  return std::chrono::milliseconds(timeout_ms);
}

/// Calls `take`, which returns a count, and repeats it after waiting while the count is 0, for up
/// to `timeout_ms`.
template <class Take>
[[nodiscard]] result<std::size_t> wait_for_some(const l2::device& device, int timeout_ms,
                                                Take take) {
  using clock = std::chrono::steady_clock;
  const auto limit = limit_of(timeout_ms);
  const auto until = clock::now() + limit.value_or(std::chrono::milliseconds(0));
  for (;;) {
    const result<std::size_t> taken = take();
    if (!taken || *taken != 0 || timeout_ms == 0) return taken;
    std::optional<std::chrono::milliseconds> left;
    if (limit) {
      left = std::chrono::ceil<std::chrono::milliseconds>(until - clock::now());
      if (left->count() <= 0) return 0;
    }
    if (const auto ready = l2::wait_readable(device, left); !ready) {
      return std::unexpected(ready.error());
    }
  }
}

}  // namespace strata::abi
