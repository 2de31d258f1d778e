// What `strata daemon` was told, for the daemon that main() brings along.
#pragma once

#include <cstdint>
#include <string>

namespace strata::cli {

struct daemon_arguments {
  std::string state_dir;
  std::string socket;
  std::string socket_group;        ///< who may use it besides the user and root; empty: nobody
  std::string loop = "auto";       ///< auto, io_uring or epoll
  std::uint64_t loops = 0;         ///< 0: one a core
  std::string metrics;             ///< tcp://HOST:PORT; empty: none
  std::string log_level = "info";  ///< debug, info, warning or error
  /// Who may have which AF_XDP sockets; empty: nobody.
  std::string socket_policy;
  double drain_timeout = 5;  ///< seconds that runtimes have to stop when the daemon ends
};

}  // namespace strata::cli
