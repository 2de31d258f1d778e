#include "runtime/client/options.hpp"

#include "net/scheme.hpp"
#include "runtime/options/message_options.hpp"

namespace strata::runtime::client {

std::string client_options::endpoint() const {
  return connect.empty() && !target.empty() ? "tcp://" + target : connect;
}

namespace {

using enum options::option_kind;
using row = options::bound_row<client_options>;

// One option per row of two or three lines.
// clang-format off
std::vector<row> where_rows() {
  static const auto connect_help = "connect to " + net::scheme_examples(net::url_use::connect);
  return {
      {{.key = "target", .short_flag = 't', .kind = text, .value_name = "HOST:PORT",
        .help = "connect to tcp://HOST:PORT", .needs_restart = true,
        .reach = options::option_reach::connecting},
       &client_options::target},
      {{.key = "connect", .short_flag = 'c', .kind = text, .value_name = "URL",
        .help = connect_help, .needs_restart = true,
        .reach = options::option_reach::connecting},
       &client_options::connect},
      {{.key = "connect_timeout", .kind = seconds, .value_name = "TIME", .default_text = "10",
        .help = "longest time for one attempt to connect"},
       &client_options::connect_timeout},
      {{.key = "reconnect", .kind = count, .value_name = "N",
        .help = "reconnect when the connection ends, at most N times in a row; 0 means no limit",
        .implicit_text = "0"},
       &client_options::reconnect},
      {{.key = "reconnect_min", .kind = seconds, .value_name = "TIME", .default_text = "1",
        .help = "wait before the first attempt to reconnect; doubles with each attempt",
        .only_with = "reconnect"},
       &client_options::reconnect_min},
      {{.key = "reconnect_max", .kind = seconds, .value_name = "TIME", .default_text = "30",
        .help = "longest wait between attempts",
        .only_with = "reconnect"},
       &client_options::reconnect_max},
      {{.key = "reconnect_seed", .kind = count, .value_name = "N", .default_text = "0",
        .help = "seed for the jitter of the wait; 0 means a random one",
        .only_with = "reconnect"},
       &client_options::reconnect_seed},
  };
}

std::vector<row> message_rows() {
  return {
      framing_row<client_options>("streams"),
      {{.key = "mode", .kind = choice, .value_name = "MODE", .default_text = "inout",
        .help = "inout: send and receive, in: only receive, out: only send",
        .choices = "inout|in|out"},
       &client_options::mode},
      {{.key = "queue", .kind = count, .value_name = "N", .default_text = "0",
        .help = "messages to keep while disconnected; without this option they are refused",
        .max = 1000000, .only_with = "reconnect"},
       &client_options::queue},
      {{.key = "global_rate_limit", .kind = count, .value_name = "N", .default_text = "0",
        .help = "messages per second from the other end; the rest is dropped; 0 means no limit"},
       &client_options::global_rate_limit},
      {{.key = "max_message", .kind = bytes, .value_name = "SIZE", .default_text = "1MiB",
        .help = "longest message; a longer one ends the connection", .max = 1ULL << 30U,
        .min = 1},
       &client_options::max_message},
      {{.key = "max_buffer", .kind = bytes, .value_name = "SIZE", .default_text = "4MiB",
        .help = "bytes buffered for a server that reads slowly; further messages are refused",
        .max = 1ULL << 32U, .min = 1024,
        .only_on = "streams"},
       &client_options::max_buffer},
      write_row<client_options>(),
  };
}

std::vector<row> web_rows() {
  return {
      {{.key = "header", .kind = list, .value_name = "'NAME: VALUE'",
        .help = "header field of the request that opens a WebSocket; repeatable",
        .only_on = "WebSockets"},
       &client_options::header},
      {{.key = "ws_protocol", .kind = list, .value_name = "NAME",
        .help = "WebSocket subprotocol to offer, in order of preference; repeatable",
        .only_on = "WebSockets"},
       &client_options::ws_protocol},
      {{.key = "ws_deflate", .kind = choice, .value_name = "on|off", .default_text = "on",
        .help = "compress WebSocket messages if the server agrees", .choices = "on|off",
        .only_on = "WebSockets"},
       &client_options::ws_deflate},
      {{.key = "ws_ping", .kind = seconds, .value_name = "TIME", .default_text = "60",
        .help = "ping a WebSocket that is silent for TIME, and end it if no answer comes; 0 means "
                "never",
        .only_on = "WebSockets"},
       &client_options::ws_ping},
  };
}

// clang-format on

}  // namespace

const std::vector<options::bound_row<client_options>>& option_table() {
  static const auto table = [] {
    auto all = where_rows();
    for (auto&& more :
         {message_rows(), web_rows(), tls_client_rows<client_options>({.only_on = "TLS"}),
          script_rows<client_options>()}) {
      all.insert(all.end(), more.begin(), more.end());
    }
    return with_runtime_options(std::move(all));
  }();
  return table;
}

const std::vector<options::option_row>& option_rows() {
  static const auto rows = rows_of(option_table());
  return rows;
}

}  // namespace strata::runtime::client
