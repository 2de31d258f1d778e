#include "options/daemon_options.hpp"

#include <algorithm>
#include <iterator>

namespace strata::options {

using enum option_kind;

namespace {

// A row is read as a row: one option, two or three lines.
// clang-format off
std::vector<bound_row<daemon_options>> serving_rows() {
  return {
      {{.key = "state_dir", .kind = text, .value_name = "DIR",
        .help = "where runtimes are kept; else $STRATA_STATE_DIR",
        .reach = option_reach::written_path},
       &daemon_options::state_dir},
      {{.key = "socket_group", .kind = text, .value_name = "GROUP",
        .help = "let members of GROUP use the socket too; else root and the daemon's user alone"},
       &daemon_options::socket_group},
      {{.key = "socket_role", .kind = choice, .value_name = "ROLE", .default_text = "operate",
        .help = "role of members of --socket-group: read, operate (start, stop, send, ...) or "
                "admin (create, edit, remove, ...)",
        .choices = "read|operate|admin"},
       &daemon_options::socket_role},
      {{.key = "loop", .kind = choice, .value_name = "WHICH", .default_text = "auto",
        .help = "event loop; auto takes io_uring where the kernel permits it",
        .choices = "auto|io_uring|epoll"},
       &daemon_options::loop},
      {{.key = "loops", .kind = count, .value_name = "N", .default_text = "0",
        .help = "event loops; 0 is one a core", .max = 64},
       &daemon_options::loops},
      {{.key = "metrics", .kind = text, .value_name = "URL",
        .help = "serve Prometheus metrics on tcp://HOST:PORT, or with TLS on https://HOST:PORT"},
       &daemon_options::metrics},
      {{.key = "listen", .kind = text, .value_name = "URL",
        .help = "serve the control API on https://HOST:PORT too, to those that --client-ca or "
                "--token-file lets in"},
       &daemon_options::listen},
      {{.key = "cert", .kind = text, .value_name = "FILE",
        .help = "the daemon's certificate for https://, in PEM, its chain behind it",
        .reach = option_reach::read_path},
       &daemon_options::cert},
      {{.key = "key", .kind = text, .value_name = "FILE", .help = "its key",
      .reach = option_reach::read_path},
       &daemon_options::key},
      {{.key = "client_ca", .kind = text, .value_name = "FILE",
        .help = "let in who shows a certificate of an authority in FILE",
        .reach = option_reach::read_path},
       &daemon_options::client_ca},
      {{.key = "client_role", .kind = list, .value_name = "ROLE[:SUBJECT]",
        .help = "role of clients whose certificate has SUBJECT, such as read:CN=ann; without "
                ":SUBJECT, of all others, else they are admin; repeatable"},
       &daemon_options::client_role},
      {{.key = "token_file", .kind = text, .value_name = "FILE",
        .help = "let in clients that say a token of FILE, whose lines are 'ROLE TOKEN', or 'TOKEN' "
                "for the role admin",
        .reach = option_reach::read_path},
       &daemon_options::token_file},
  };
}

std::vector<bound_row<daemon_options>> running_rows() {
  return {
      {{.key = "log_level", .kind = choice, .value_name = "LEVEL", .default_text = "info",
        .help = "least level that is logged", .choices = "debug|info|warning|error"},
       &daemon_options::log_level},
      {{.key = "log_format", .kind = choice, .value_name = "FORMAT", .default_text = "text",
        .help = "json: each line of the log is a JSON object: time, level, runtime, text",
        .choices = "text|json"},
       &daemon_options::log_format},
      {{.key = "log_file", .kind = text, .value_name = "FILE",
        .help = "write the log to FILE, and not to standard error",
        .reach = option_reach::read_path},
       &daemon_options::log_file},
      {{.key = "log_size", .kind = bytes, .value_name = "SIZE", .default_text = "10MiB",
        .help = "rename FILE to FILE.1 and begin a new one at this size; 0 is never"},
       &daemon_options::log_size},
      {{.key = "log_keep", .kind = count, .value_name = "N", .default_text = "5",
        .help = "older files of the log that are kept", .max = 1000},
       &daemon_options::log_keep},
      {{.key = "detach", .kind = flag,
        .help = "run in the background, with the log in daemon.log of the state folder unless "
                "--log-file names another; return when the daemon is ready"},
       &daemon_options::detach},
      {{.key = "socket_policy", .kind = text, .value_name = "FILE",
        .help = "who may have AF_XDP and AF_PACKET sockets of the daemon; else socket-policy in "
                "$STRATA_CONFIG_DIR or /etc/strata, if it is there",
                .reach = option_reach::read_path},
       &daemon_options::socket_policy},
      {{.key = "drain_timeout", .kind = seconds, .value_name = "TIME", .default_text = "5",
        .help = "longest time that runtimes may take to stop when the daemon ends"},
       &daemon_options::drain_timeout},
  };
}
// clang-format on

}  // namespace

const std::vector<bound_row<daemon_options>>& daemon_table() {
  static const auto table = [] {
    auto rows = serving_rows();
    std::ranges::move(running_rows(), std::back_inserter(rows));
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
  return apply_json(checked, daemon_table(), to_json(options, daemon_table(), true));
}

}  // namespace strata::options
