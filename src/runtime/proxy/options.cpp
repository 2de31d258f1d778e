#include "runtime/proxy/options.hpp"

#include "net/scheme.hpp"

namespace strata::runtime::proxy {

std::vector<std::string> proxy_options::endpoints() const {
  return listen_urls(port, local, listen);
}

namespace {

using enum options::option_kind;
using row = options::bound_row<proxy_options>;

// A row is read as a row: one option, two or three lines.
// clang-format off
std::vector<row> own_rows() {
  return {
      {{.key = "port", .short_flag = 'p', .kind = options::option_kind::port, .value_name = "PORT",
        .help = "listen on tcp://*:PORT, every address; 0 takes a free port",
        .needs_restart = true},
       &proxy_options::port},
      {{.key = "local", .kind = flag,
        .help = "with --port: listen on 127.0.0.1, for this machine alone", .needs_restart = true,
        .only_with = "port"},
       &proxy_options::local},
      {{.key = "listen", .short_flag = 'l', .kind = list, .value_name = "URL",
        .help = "listen on tcp://HOST:PORT, tls://HOST:PORT or unix:///PATH; repeatable",
        .needs_restart = true},
       &proxy_options::listen},
      {{.key = "backend", .short_flag = 'b', .kind = list, .value_name = "WHERE",
        .help = "pass connections on to HOST:PORT, a URL (tcp, tls, unix) or a runtime's name; "
                "behind a blank, weight=N (1 to 1000) or backup, which serves when no other does; "
                "repeatable"},
       &proxy_options::backend},
      {{.key = "balance", .kind = choice, .value_name = "HOW", .default_text = "round-robin",
        .help = "which back is next: in turn by weight, any by weight, the one with the fewest "
                "connections for its weight, the first that is there, or by the client's address",
        .choices = "round-robin|random|least|first|source"},
       &proxy_options::balance},
      {{.key = "connect_timeout", .kind = seconds, .value_name = "TIME", .default_text = "5",
        .help = "longest time that one back may take to answer; then the next one is tried"},
       &proxy_options::connect_timeout},
      {{.key = "rest", .kind = seconds, .value_name = "TIME", .default_text = "5",
        .help = "a back that could not be reached is left alone for TIME, unless there is no "
                "other"},
       &proxy_options::rest},
      {{.key = "idle_timeout", .kind = seconds, .value_name = "TIME", .default_text = "0",
        .help = "end connections on which nothing has come from either side for TIME; 0 is never"},
       &proxy_options::idle_timeout},
      {{.key = "max_connections", .kind = count, .value_name = "N", .default_text = "0",
        .help = "clients at a time; more are refused; 0 is what the limit of open files leaves "
                "room for (ulimit -n)"},
       &proxy_options::max_connections},
      {{.key = "max_buffer", .kind = bytes, .value_name = "SIZE", .default_text = "256KiB",
        .help = "bytes that may wait for a side that reads slowly; the other side waits then",
        .max = 1ULL << 30U, .min = 4096},
       &proxy_options::max_buffer},
      {{.key = "threads", .kind = count, .value_name = "N", .default_text = "1",
        .help = "event loops that share the work", .needs_restart = true, .max = 64, .min = 1},
       &proxy_options::threads},
  };
}
// clang-format on

}  // namespace

const std::vector<options::bound_row<proxy_options>>& option_table() {
  static const auto table = [] {
    auto all = own_rows();
    for (auto&& more : {tls_server_rows<proxy_options>(),
                        tls_client_rows<proxy_options>({.only_on = "TLS to backs"})}) {
      all.insert(all.end(), more.begin(), more.end());
    }
    return with_common(std::move(all));
  }();
  return table;
}

const std::vector<options::option_row>& option_rows() {
  static const auto rows = rows_of(option_table());
  return rows;
}

}  // namespace strata::runtime::proxy
