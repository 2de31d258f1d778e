// Sockets that the service manager has opened for this process: systemd's socket activation.
#pragma once

namespace strata::daemon::takeover {

/// Puts them on the process's shelf, where they stay: a runtime that listens at the address of one
/// listens on it (sd_listen_fds(3): LISTEN_FDS, LISTEN_PID). Call it before there are threads or
/// other processes.
void take_activation_sockets();

}  // namespace strata::daemon::takeover
