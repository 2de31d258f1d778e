// Says that the daemon is ready: to the shell that waits for it, and to systemd.
#pragma once

#include <string_view>

#include "strata/base/result.hpp"
#include "strata/base/unique_fd.hpp"

namespace strata::daemon {

class readiness {
 public:
  /// Goes on in a process of its own, in the background and in a session of its own, and returns
  /// there. The process that called this ends once the other is ready, with 0, or has ended before,
  /// with its exit code. Before there are threads.
  [[nodiscard]] result<void> detach();
  /// From now on requests are answered. One that has detached lets go of the terminal.
  void tell_ready();
  /// `state` as sd_notify(3) has it, to the service manager that NOTIFY_SOCKET names, if any.
  static void notify(std::string_view state);

 private:
  unique_fd parent_;
};

}  // namespace strata::daemon
