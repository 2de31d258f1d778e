// The daemon's options. The table in daemon_options.cpp gives each member its flag and its help.
#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "options/option_table.hpp"

namespace strata::options {

struct daemon_options {
  std::string state_dir;
  std::string socket;        ///< not in the table: every verb has the flag
  std::string socket_group;  ///< group that may use the socket, besides the user and root
  std::string socket_role = "operate";  ///< the group's role: read, operate or admin
  std::string loop = "auto";            ///< auto, io_uring or epoll
  std::uint64_t loops = 0;              ///< loops shared by the runtimes; 0: one per core
  std::string metrics;                  ///< tcp://HOST:PORT; empty: none
  std::string listen;                   ///< https://HOST:PORT, besides the socket; empty: none
  std::string cert;                     ///< the daemon's own certificate for `listen`
  std::string key;
  std::string client_ca;
  std::vector<std::string> client_role;  ///< `ROLE:SUBJECT`, or `ROLE` for all others
  std::string token_file;
  std::string log_level = "info";
  std::string log_format = "text";      ///< text or json
  std::string log_file;                 ///< empty: standard error, or a default file when detached
  std::uint64_t log_size = 10U << 20U;  ///< bytes; 0: one file without limit
  std::uint64_t log_keep = 5;           ///< number of older files
  bool detach = false;
  bool takeover = false;         ///< from the daemon that runs with the same socket
  double takeover_timeout = 30;  ///< seconds without a sign of life of a later daemon
  std::string socket_policy;     ///< states which sockets the daemon opens for others; empty: none
  std::string cgroup;            ///< folder of the control groups of programs; empty: see its row
  std::string name;              ///< of the daemon in its cluster
  std::string cluster;           ///< etcd://HOST:PORT,…; empty: none
  std::vector<std::string> label;  ///< KEY=VALUE, of the daemon in its cluster
  std::string zone;                ///< of the daemon in its cluster; empty: none
  std::string advertise;           ///< host by which others reach it
  double cluster_ttl = 10;         ///< seconds
  std::string cluster_user;        ///< of etcd; empty: none
  std::string cluster_password;
  std::string cluster_ca;    ///< a file of authorities; empty: those of the system
  std::string cluster_cert;  ///< the daemon's own certificate for etcd; empty: none
  std::string cluster_key;
  double drain_timeout = 5;  ///< seconds that runtimes may take to stop when the daemon ends
};

[[nodiscard]] const std::vector<bound_row<daemon_options>>& daemon_table();
[[nodiscard]] const std::vector<option_row>& daemon_rows();

/// Checks each member against its row, and that it has an effect beside the others. Errors:
/// invalid_argument, naming the flag, the value and what it takes, or the flag that it needs.
[[nodiscard]] result<void> check(const daemon_options& options);

}  // namespace strata::options
