// The daemon: everything put together, from start to SIGTERM.
#pragma once

#include <cstddef>
#include <string>

namespace strata::daemon {

struct settings {
  std::string state_dir;
  std::string socket;
  std::string socket_group;   ///< who may use the socket besides the user and root; empty: nobody
  std::string loop = "auto";  ///< auto, io_uring or epoll
  std::size_t loops = 0;      ///< shared by the runtimes; 0: one a core
  std::string metrics;        ///< tcp://HOST:PORT, or empty
  std::string log_level = "info";
  std::string socket_policy;  ///< who may have sockets of it; empty: nobody
  double drain_timeout = 5;   ///< seconds that runtimes have to stop when the daemon ends
};

/// Runs until SIGTERM or SIGINT. The process' exit code: 0, or 1 with the reason on stderr.
[[nodiscard]] int run(const settings& how);

}  // namespace strata::daemon
