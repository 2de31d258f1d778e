#include "cli/system/rows.hpp"

namespace strata::cli {

namespace {

using enum options::option_kind;
using enum verb_group;

option_rows daemon_flags() {
  return {{.key = "state_dir",
           .kind = text,
           .value_name = "DIR",
           .help = "where runtimes are kept; else $STRATA_STATE_DIR"},
          {.key = "socket_group",
           .kind = text,
           .value_name = "GROUP",
           .help = "let members of GROUP control the daemon too; else its user and root alone may"},
          {.key = "loop",
           .kind = choice,
           .value_name = "WHICH",
           .default_text = "auto",
           .help = "event loop; auto takes io_uring where the kernel permits it",
           .choices = "auto|io_uring|epoll"},
          {.key = "loops",
           .kind = count,
           .value_name = "N",
           .default_text = "0",
           .help = "event loops; 0 is one a core",
           .max = 64},
          {.key = "metrics",
           .kind = text,
           .value_name = "URL",
           .help = "serve Prometheus metrics on tcp://HOST:PORT"},
          {.key = "log_level",
           .kind = choice,
           .value_name = "LEVEL",
           .default_text = "info",
           .help = "least level that is logged",
           .choices = "debug|info|warning|error"},
          {.key = "socket_policy",
           .kind = text,
           .value_name = "FILE",
           .help = "who may have AF_XDP and AF_PACKET sockets of the daemon; else socket-policy in "
                   "$STRATA_CONFIG_DIR or /etc/strata, if it is there"},
          {.key = "drain_timeout",
           .kind = seconds,
           .value_name = "TIME",
           .default_text = "5",
           .help = "longest time that runtimes may take to stop when the daemon ends"}};
}

}  // namespace

std::vector<verb_row> system_verbs() {
  return {
      {"daemon", "", verb_group::system, "run the daemon, in the foreground", 0, 0, run_daemon,
       daemon_flags()},
      {"doctor",
       "",
       verb_group::system,
       "check what this machine gives strata to work with",
       0,
       0,
       run_doctor,
       {{.key = "state_dir",
         .kind = text,
         .value_name = "DIR",
         .help = "state folder to check; else $STRATA_STATE_DIR"}}},
      {"version", "", verb_group::system, "show the versions of this program and the daemon", 0, 0,
       run_version},
  };
}

}  // namespace strata::cli
