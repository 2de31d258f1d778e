#include "runtime/server/options.hpp"

#include "net/scheme.hpp"

namespace strata::runtime {

std::vector<std::string> server_options::endpoints() const { return listen_urls(port, listen); }

namespace {

using enum option_kind;
using row = bound_row<server_options>;
using options = server_options;

// A row is read as a row: one option, two or three lines.
// clang-format off
std::vector<row> where_rows() {
  static const auto listen_help = "listen on " + net::scheme_examples() + "; repeatable";
  return {
      {{.key = "port", .short_flag = 'p', .kind = port, .value_name = "PORT",
        .help = "listen on tcp://0.0.0.0:PORT; 0 takes a free port", .needs_restart = true},
       &options::port},
      {{.key = "listen", .short_flag = 'l', .kind = list, .value_name = "URL",
        .help = listen_help, .needs_restart = true},
       &options::listen},
      {{.key = "threads", .kind = count, .value_name = "N", .default_text = "1",
        .help = "event loops that share the work", .needs_restart = true, .max = 64, .min = 1},
       &options::threads},
  };
}

std::vector<row> message_rows() {
  return {
      {{.key = "framing", .kind = choice, .value_name = "HOW", .default_text = "line",
        .help = "what a message is: a line, a 4-byte big-endian length and its bytes, or a read",
        .needs_restart = true, .choices = "line|length|raw"},
       &options::framing},
      {{.key = "mode", .kind = choice, .value_name = "MODE", .default_text = "inout",
        .help = "who hears whom: all others, nobody, clients ignored, or only the master is heard",
        .choices = "inout|in|out|master"},
       &options::mode},
      {{.key = "master_pw", .kind = secret, .value_name = "PASSWORD",
        .help = "what 'master PASSWORD' must say to become master"},
       &options::master_pw},
      {{.key = "master_forward", .kind = flag,
        .help = "hand other clients' messages to the master, as '[ID] MESSAGE'"},
       &options::master_forward},
      {{.key = "write", .short_flag = 'w', .kind = text, .value_name = "FILE",
        .help = "append every received message to FILE", .needs_restart = true},
       &options::write},
  };
}

std::vector<row> limit_rows() {
  return {
      {{.key = "max_connections", .kind = count, .value_name = "N", .default_text = "0",
        .help = "clients at a time; more are refused; 0 is no limit"},
       &options::max_connections},
      {{.key = "rate_limit", .kind = count, .value_name = "N", .default_text = "0",
        .help = "messages per second from one client; more are dropped; 0 is no limit"},
       &options::rate_limit},
      {{.key = "global_rate_limit", .kind = count, .value_name = "N", .default_text = "0",
        .help = "messages per second from all clients; more are dropped; 0 is no limit"},
       &options::global_rate_limit},
      {{.key = "idle_timeout", .kind = seconds, .value_name = "TIME", .default_text = "0",
        .help = "disconnect a client that sends nothing for so long; 0 is never"},
       &options::idle_timeout},
      {{.key = "peer_timeout", .kind = seconds, .value_name = "TIME", .default_text = "60",
        .help = "forget a UDP peer that sends nothing for so long"},
       &options::peer_timeout},
      {{.key = "max_message", .kind = bytes, .value_name = "SIZE", .default_text = "1MiB",
        .help = "longest message; a longer one ends its connection", .max = 1ULL << 30U,
        .min = 1},
       &options::max_message},
      {{.key = "max_buffer", .kind = bytes, .value_name = "SIZE", .default_text = "4MiB",
        .help = "bytes that may wait for one client to read them", .max = 1ULL << 32U,
        .min = 1024},
       &options::max_buffer},
      {{.key = "slow_client", .kind = choice, .value_name = "WHAT",
        .default_text = "disconnect",
        .help = "what to do when max-buffer is full: drop the message or disconnect the client",
        .choices = "drop|disconnect"},
       &options::slow_client},
      {{.key = "drain", .kind = flag,
        .help = "when stopping, first deliver what waits, then close"},
       &options::drain},
      {{.key = "drain_timeout", .kind = seconds, .value_name = "TIME", .default_text = "5",
        .help = "longest time that draining may take"},
       &options::drain_timeout},
  };
}

// clang-format on

}  // namespace

const std::vector<bound_row<server_options>>& server_table() {
  static const auto table = [] {
    auto all = where_rows();
    for (auto&& more : {message_rows(), limit_rows()}) {
      all.insert(all.end(), more.begin(), more.end());
    }
    return with_common(std::move(all));
  }();
  return table;
}

const std::vector<option_row>& server_rows() {
  static const auto rows = rows_of(server_table());
  return rows;
}

}  // namespace strata::runtime
