#include "cli/pipe/options.hpp"

namespace strata::cli {

namespace {

using enum options::option_kind;
using row = options::bound_row<pipe_options>;

// One option per row of two or three lines.
// clang-format off
std::vector<row> way_rows() {
  return {
      {{.key = "fork", .short_flag = 'f', .kind = flag,
        .help = "open a connection to the second end for each accepted peer; runs until "
                "interrupted"},
       &pipe_options::fork},
      {{.key = "max_connections", .kind = count, .value_name = "N", .default_text = "1000",
        .help = "peers served at the same time; further ones wait to be accepted", .max = 1000000,
        .min = 1, .only_with = "fork"},
       &pipe_options::max_connections},
      {{.key = "one_way", .kind = flag,
        .help = "forward from the first end to the second only; discard what the second sends"},
       &pipe_options::one_way},
      {{.key = "connect_timeout", .kind = seconds, .value_name = "TIME", .default_text = "10",
        .help = "longest time for an attempt to connect; 0 means no limit"},
       &pipe_options::connect_timeout},
      {{.key = "max_buffer", .kind = bytes, .value_name = "SIZE", .default_text = "256KiB",
        .help = "bytes buffered for a slow end; when full, the other end is not read",
        .max = 1ULL << 32U, .min = 1024},
       &pipe_options::max_buffer},
  };
}

std::vector<row> message_rows() {
  return {
      {{.key = "framing", .kind = choice, .value_name = "HOW", .default_text = "line",
        .help = "message boundaries in a stream: line: line ends, length: a 4-byte big-endian "
                "length before each message, raw: each read is a "
                "message", .choices = "line|length|raw"},
       &pipe_options::framing},
      {{.key = "max_message", .kind = bytes, .value_name = "SIZE", .default_text = "1MiB",
        .help = "longest message; a longer one ends the pipe with an error", .max = 1ULL << 30U,
        .min = 1},
       &pipe_options::max_message},
      {{.key = "linger", .kind = seconds, .value_name = "TIME", .default_text = "0.5",
        .help = "when one end has ended, leave a WebSocket, datagrams or frames after this much "
                "silence"},
       &pipe_options::linger},
      {{.key = "header", .kind = list, .value_name = "'NAME: VALUE'",
        .help = "header field of the request that opens a WebSocket; repeatable"},
       &pipe_options::header},
      {{.key = "ws_protocol", .kind = list, .value_name = "NAME",
        .help = "WebSocket subprotocol to offer or accept, in order of preference; repeatable"},
       &pipe_options::ws_protocol},
      {{.key = "ws_origin", .kind = list, .value_name = "ORIGIN",
        .help = "also accept WebSockets from pages of ORIGIN, such as https://example.com; * "
                "accepts all; repeatable"},
       &pipe_options::ws_origin},
      {{.key = "ws_ping", .kind = seconds, .value_name = "TIME", .default_text = "60",
        .help = "ping a WebSocket that is silent for TIME, and end it if no answer comes; 0 means "
                "never"},
       &pipe_options::ws_ping},
  };
}

row loop_row() {
  return {{.key = "loop", .kind = choice, .value_name = "WHICH", .default_text = "auto",
           .help = "event loop; auto uses io_uring where the kernel permits it",
           .choices = "auto|io_uring|epoll"},
          &pipe_options::loop};
}
// clang-format on

}  // namespace

const std::vector<options::bound_row<pipe_options>>& pipe_option_table() {
  static const auto table = [] {
    auto all = way_rows();
    for (auto&& more : {message_rows(), runtime::tls_client_rows<pipe_options>({}),
                        runtime::tls_server_rows<pipe_options>()}) {
      all.insert(all.end(), more.begin(), more.end());
    }
    all.push_back(loop_row());
    return all;
  }();
  return table;
}

}  // namespace strata::cli
