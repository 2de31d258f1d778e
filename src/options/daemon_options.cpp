#include "options/daemon_options.hpp"

#include <algorithm>
#include <iterator>
#include <nlohmann/json.hpp>

#include "options/effects.hpp"

namespace strata::options {

using enum option_kind;

namespace {

// One option per row of two or three lines.
// clang-format off
std::vector<bound_row<daemon_options>> serving_rows() {
  return {
      {{.key = "state_dir", .kind = text, .value_name = "DIR",
        .help = "folder in which runtimes are stored; overrides $STRATA_STATE_DIR",
        .reach = option_reach::written_path},
       &daemon_options::state_dir},
      {{.key = "socket_group", .kind = text, .value_name = "GROUP",
        .help = "also let members of GROUP use the socket; by default only root and the daemon's "
                "user"},
       &daemon_options::socket_group},
      {{.key = "socket_role", .kind = choice, .value_name = "ROLE", .default_text = "operate",
        .help = "role of members of --socket-group: read, operate (start, stop, send, ...) or "
                "admin (create, edit, remove, ...)",
        .choices = "read|operate|admin",
        .only_with = "socket_group"},
       &daemon_options::socket_role},
      {{.key = "loop", .kind = choice, .value_name = "WHICH", .default_text = "auto",
        .help = "event loop; auto uses io_uring where the kernel permits it",
        .choices = "auto|io_uring|epoll"},
       &daemon_options::loop},
      {{.key = "loops", .kind = count, .value_name = "N", .default_text = "0",
        .help = "number of event loops; 0 means one per core", .max = 64},
       &daemon_options::loops},
      {{.key = "metrics", .kind = text, .value_name = "URL",
        .help = "serve Prometheus metrics on tcp://HOST:PORT, or with TLS on https://HOST:PORT"},
       &daemon_options::metrics},
      {{.key = "listen", .kind = text, .value_name = "URL",
        .help = "also serve the control API on https://HOST:PORT, to clients that --client-ca or "
                "--token-file admits"},
       &daemon_options::listen},
      {{.key = "cert", .kind = text, .value_name = "FILE",
        .help = "certificate of the daemon for https://, in PEM, followed by its chain",
        .reach = option_reach::read_path,
        .only_with = "listen|metrics"},
       &daemon_options::cert},
      {{.key = "key", .kind = text, .value_name = "FILE", .help = "its key",
      .reach = option_reach::read_path,
        .only_with = "cert"},
       &daemon_options::key},
      {{.key = "client_ca", .kind = text, .value_name = "FILE",
        .help = "admit clients with a certificate of an authority in FILE",
        .reach = option_reach::read_path,
        .only_with = "listen|metrics"},
       &daemon_options::client_ca},
      {{.key = "client_role", .kind = list, .value_name = "ROLE[:SUBJECT]",
        .help = "role of clients whose certificate has SUBJECT, such as read:CN=ann; without "
                ":SUBJECT, role of all other clients (default: admin); repeatable",
        .only_with = "client_ca"},
       &daemon_options::client_role},
      {{.key = "token_file", .kind = text, .value_name = "FILE",
        .help = "admit clients with a token of FILE, whose lines are 'ROLE TOKEN', or 'TOKEN' for "
                "the role admin",
        .reach = option_reach::read_path,
        .only_with = "listen|metrics"},
       &daemon_options::token_file},
  };
}

std::vector<bound_row<daemon_options>> running_rows() {
  return {
      {{.key = "log_level", .kind = choice, .value_name = "LEVEL", .default_text = "info",
        .help = "lowest level to log", .choices = "debug|info|warning|error"},
       &daemon_options::log_level},
      {{.key = "log_format", .kind = choice, .value_name = "FORMAT", .default_text = "text",
        .help = "format of the log; json: each line is an object with time, level, runtime and "
                "text",
        .choices = "text|json"},
       &daemon_options::log_format},
      {{.key = "log_file", .kind = text, .value_name = "FILE",
        .help = "write the log to FILE instead of standard error",
        .reach = option_reach::read_path},
       &daemon_options::log_file},
      {{.key = "log_size", .kind = bytes, .value_name = "SIZE", .default_text = "10MiB",
        .help = "at this size, rename FILE to FILE.1 and start a new one; 0 means never",
        .only_with = "log_file|detach"},
       &daemon_options::log_size},
      {{.key = "log_keep", .kind = count, .value_name = "N", .default_text = "5",
        .help = "number of older log files to keep", .max = 1000,
        .only_with = "log_file|detach"},
       &daemon_options::log_keep},
      {{.key = "detach", .kind = flag,
        .help = "run in the background and return when the daemon is ready; the log goes to "
                "daemon.log in the state folder, or to --log-file"},
       &daemon_options::detach},
      {{.key = "takeover", .kind = flag,
        .help = "take the listening sockets and the state over from the daemon that runs with the "
                "same --socket and --state-dir, which then ends; if none runs, just start"},
       &daemon_options::takeover},
      {{.key = "takeover_timeout", .kind = seconds, .value_name = "TIME", .default_text = "30",
        .help = "longest time, 2 s at least, that a later daemon which takes over may give no sign "
                "of life; then this daemon ends it and goes on"},
       &daemon_options::takeover_timeout},
      {{.key = "cgroup", .kind = text, .value_name = "DIR",
        .help = "folder of cgroup2, such as /sys/fs/cgroup/strata, in which each instance of a "
                "program gets a control group (default: the one that a service manager has "
                "delegated to the daemon, if any)",
        .reach = option_reach::written_path},
       &daemon_options::cgroup},
      {{.key = "socket_policy", .kind = text, .value_name = "FILE",
        .help = "file with the policy for AF_XDP and AF_PACKET sockets that the daemon hands out "
                "(default: socket-policy in $STRATA_CONFIG_DIR or /etc/strata, if it exists)",
                .reach = option_reach::read_path},
       &daemon_options::socket_policy},
      {{.key = "drain_timeout", .kind = seconds, .value_name = "TIME", .default_text = "5",
        .help = "longest time for runtimes to stop when the daemon ends"},
       &daemon_options::drain_timeout},
  };
}

std::vector<bound_row<daemon_options>> cluster_rows() {
  return {
      {{.key = "name", .kind = text, .value_name = "NAME",
        .help = "name of this daemon in its cluster, which no other daemon there has",
        .only_with = "cluster"},
       &daemon_options::name},
      {{.key = "cluster", .kind = text, .value_name = "URL",
        .help = "share the names of runtimes with other daemons by etcd://HOST:PORT,HOST:PORT,..., "
                "with TLS by etcds://HOST:PORT, or by a folder that all have, dir:///PATH"},
       &daemon_options::cluster},
      {{.key = "label", .kind = list, .value_name = "KEY=VALUE",
        .help = "label by which the 'on' of stacks and --on select this daemon; repeatable",
        .only_with = "cluster"},
       &daemon_options::label},
      {{.key = "zone", .kind = text, .value_name = "NAME",
        .help = "place of this daemon, such as a data centre; proxies whose backend has "
                "prefer=zone choose daemons of their own zone first",
        .only_with = "cluster"},
       &daemon_options::zone},
      {{.key = "advertise", .kind = text, .value_name = "HOST",
        .help = "host name or address by which the other daemons reach this machine; without it, "
                "only endpoints with an address of their own are shared",
        .only_with = "cluster"},
       &daemon_options::advertise},
      {{.key = "cluster_ttl", .kind = seconds, .value_name = "TIME", .default_text = "10",
        .help = "longest time that the others list a daemon that no longer answers",
        .only_with = "cluster"},
       &daemon_options::cluster_ttl},
      {{.key = "cluster_user", .kind = text, .value_name = "NAME", .help = "user of etcd",
        .only_with = "cluster"},
       &daemon_options::cluster_user},
      {{.key = "cluster_password", .kind = secret, .value_name = "PASSWORD",
        .help = "its password", .only_with = "cluster_user"},
       &daemon_options::cluster_password},
      {{.key = "cluster_ca", .kind = text, .value_name = "FILE",
        .help = "authorities that may have signed etcd's certificate (default: the system's)",
        .reach = option_reach::read_path, .only_with = "cluster"},
       &daemon_options::cluster_ca},
      {{.key = "cluster_cert", .kind = text, .value_name = "FILE",
        .help = "certificate by which etcd knows the daemon, in PEM, followed by its chain",
        .reach = option_reach::read_path, .only_with = "cluster"},
       &daemon_options::cluster_cert},
      {{.key = "cluster_key", .kind = text, .value_name = "FILE", .help = "its key",
        .reach = option_reach::read_path, .only_with = "cluster_cert"},
       &daemon_options::cluster_key},
  };
}
// clang-format on

}  // namespace

const std::vector<bound_row<daemon_options>>& daemon_table() {
  static const auto table = [] {
    auto rows = serving_rows();
    std::ranges::move(running_rows(), std::back_inserter(rows));
    std::ranges::move(cluster_rows(), std::back_inserter(rows));
    return rows;
  }();
  return table;
}

const std::vector<option_row>& daemon_rows() {
  static const auto rows = rows_of(daemon_table());
  return rows;
}

result<void> check(const daemon_options& options) {
  daemon_options checked;
  const auto all = to_json(options, daemon_table(), true);
  if (auto applied = apply_json(checked, daemon_table(), all); !applied) return applied;
  return check_effects(daemon_rows(), all, all, {});
}

}  // namespace strata::options
