// Reports that the daemon is ready: to the waiting shell, and to systemd.
#pragma once

#include <sys/types.h>

#include <chrono>
#include <cstdint>
#include <optional>
#include <string_view>

#include "strata/base/result.hpp"
#include "strata/base/unique_fd.hpp"

namespace strata::daemon {

class readiness {
 public:
  /// What becomes of the standard streams of a detached daemon, once it is ready.
  enum class streams : std::uint8_t { kept, closed };
  /// Continues in a new process, and returns there; with streams that are closed, in a session of
  /// its own. The calling process exits with 0 once the new one is ready, or with its exit code if
  /// it ends earlier. Call it before there are threads.
  [[nodiscard]] result<void> detach(streams streams);
  /// Reports that requests are answered from now on.
  void report_ready();
  /// Sends `state`, as of sd_notify(3), to the service manager that NOTIFY_SOCKET names, if any.
  static void notify(std::string_view state);
  /// Within this time the service manager awaits a WATCHDOG=1 (sd_watchdog_enabled(3)). Nullopt if
  /// it awaits none of this process.
  [[nodiscard]] static std::optional<std::chrono::microseconds> watchdog_interval();

 private:
  void end_parent();

  unique_fd parent_;  // waits for a letter
  pid_t parent_id_ = 0;
  streams streams_ = streams::kept;
};

}  // namespace strata::daemon
