// Reports that the daemon is ready: to the waiting shell, and to systemd.
#pragma once

#include <chrono>
#include <optional>
#include <string_view>

#include "strata/base/result.hpp"
#include "strata/base/unique_fd.hpp"

namespace strata::daemon {

class readiness {
 public:
  /// Continues in a new process, in the background and in a session of its own, and returns there.
  /// The calling process exits with 0 once the new one is ready, or with its exit code if it ends
  /// earlier. Call it before there are threads.
  [[nodiscard]] result<void> detach();
  /// Reports that requests are answered from now on. A detached daemon closes the terminal.
  void report_ready();
  /// Sends `state`, as of sd_notify(3), to the service manager that NOTIFY_SOCKET names, if any.
  static void notify(std::string_view state);
  /// Within this time the service manager awaits a WATCHDOG=1 (sd_watchdog_enabled(3)). Nullopt if
  /// it awaits none of this process.
  [[nodiscard]] static std::optional<std::chrono::microseconds> watchdog_interval();

 private:
  unique_fd parent_;
};

}  // namespace strata::daemon
