// The one clock of the benchmark: monotonic nanoseconds, the same for sender and receivers.
#pragma once

#include <cstdint>
#include <ctime>

namespace strata::bench {

inline std::uint64_t now_ns() {
  timespec now{};
  clock_gettime(CLOCK_MONOTONIC, &now);
  return static_cast<std::uint64_t>(now.tv_sec) * 1'000'000'000U +
         static_cast<std::uint64_t>(now.tv_nsec);
}

inline std::uint64_t to_ns(double seconds) { return static_cast<std::uint64_t>(seconds * 1e9); }

inline double to_seconds(std::uint64_t ns) { return static_cast<double>(ns) / 1e9; }

}  // namespace strata::bench
