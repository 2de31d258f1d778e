// The daemon's address, and how long it may be silent.
#pragma once

#include <algorithm>
#include <chrono>
#include <string>

namespace strata::cli {

struct daemon_address {
  std::string socket;  ///< a path, or https://HOST:PORT
  /// Another daemon of the cluster of that one, by its name; empty: that one itself.
  std::string other = {};
  /// Whether `socket` was found in a registry, which others write: no token is sent there.
  bool is_found = false;
  /// How long an answer may take; zero: no limit.
  std::chrono::milliseconds timeout = std::chrono::seconds(30);

  [[nodiscard]] bool is_remote() const { return !other.empty() || socket.contains("://"); }
};

/// Converts seconds given by a user. The shortest time is above zero, and the longest is a year.
[[nodiscard]] inline std::chrono::milliseconds timeout_of(double seconds) {
  if (seconds == 0) return {};
  constexpr double longest = 366.0 * 24 * 3600;  // more would overflow the clock's nanoseconds
  const std::chrono::duration<double> given(std::min(seconds, longest));
  return std::max(std::chrono::ceil<std::chrono::milliseconds>(given),
                  std::chrono::milliseconds(1));
}

}  // namespace strata::cli
