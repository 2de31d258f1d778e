#include "runtime/server/options.hpp"

#include "net/scheme.hpp"
#include "runtime/options/listen_options.hpp"
#include "runtime/options/message_options.hpp"

namespace strata::runtime::server {

std::vector<std::string> server_options::endpoints() const {
  return listen_urls(port, local, !cert.empty(), listen);
}

result<std::vector<net::endpoint_url>> server_options::upstreams() const {
  std::vector<net::endpoint_url> all;
  for (const auto& each : upstream) {
    auto url = net::parse_connecting(each.contains("://") ? each : "tcp://" + each);
    if (!url) return std::unexpected(url.error());
    if (!url->scheme->has_messages) {
      return failure(errc::invalid_argument, "use " + each + " as an upstream",
                     "it carries no messages", "name a tcp, tls, ws, udp or runtime:// endpoint");
    }
    if (url->host.starts_with('@')) {
      return failure(errc::invalid_argument, "use " + each + " as an upstream",
                     "it is a group, and each upstream is one connection",
                     "name each runtime: runtime://NAME");
    }
    all.push_back(std::move(*url));
  }
  return all;
}

namespace {

using enum options::option_kind;
using row = options::bound_row<server_options>;

// One option per row of two or three lines.
// clang-format off
std::vector<row> where_rows() {
  static const auto listen_help =
      "listen on " + net::scheme_examples(net::url_use::listen) + "; repeatable";
  auto rows = listen_rows<server_options>(listen_help);
  rows.push_back(threads_row<server_options>());
  return rows;
}

std::vector<row> message_rows() {
  return {
      framing_row<server_options>("streams"),
      {{.key = "mode", .kind = choice, .value_name = "MODE", .default_text = "inout",
        .help = "who receives a client's message: inout: all other clients, in: nobody, out: "
                "clients' input is ignored, echo: the sender, master: only the master's messages "
                "are relayed",
        .choices = "inout|in|out|echo|master"},
       &server_options::mode},
      {{.key = "master_pw", .kind = secret, .value_name = "PASSWORD",
        .help = "password with which a client becomes master by sending 'master PASSWORD'",
        .only_with = "mode=master"},
       &server_options::master_pw},
      {{.key = "master_forward", .kind = flag,
        .help = "deliver the other clients' messages to the master, as '[ID] MESSAGE'",
        .only_with = "mode=master"},
       &server_options::master_forward},
      {{.key = "cache", .kind = text, .value_name = "NAME",
        .help = "run commands that clients send as 'cache get KEY' on the cache NAME, and send its "
                "reply to that client alone"},
       &server_options::cache},
      {{.key = "upstream", .short_flag = 'u', .kind = list, .value_name = "URL",
        .help = "open a connection to URL or HOST:PORT; the script receives its data in "
                "on_upstream; reconnects when it breaks; repeatable, or several with commas "
                "between them",
        .needs_restart = true, .reach = options::option_reach::connecting, .separators = ",;",
        .only_with = "lua"},
       &server_options::upstream},
      write_row<server_options>(),
  };
}

std::vector<row> limit_rows() {
  return {
      {{.key = "max_connections", .kind = count, .value_name = "N", .default_text = "0",
        .help = "clients connected at the same time; more are refused; 0 means as many as "
                "the limit of open files permits (ulimit -n)",
        .only_on = "streams"},
       &server_options::max_connections},
      {{.key = "max_memory_connections", .kind = bytes, .value_name = "SIZE",
        .default_text = "1GiB",
        .help = "memory for unfinished input and waiting output of all clients; beyond it, the "
                "clients whose last message is oldest are disconnected; 0 means no limit",
        .only_on = "streams"},
       &server_options::max_memory_connections},
      {{.key = "max_peers", .kind = count, .value_name = "N", .default_text = "10000",
        .help = "peers per UDP or Ethernet endpoint and thread; more are refused",
        .max = 1U << 20U,
        .only_on = "UDP|Ethernet"},
       &server_options::max_peers},
      {{.key = "rate_limit", .kind = count, .value_name = "N", .default_text = "0",
        .help = "messages per second from one client, HTTP requests not counted; the rest is "
                "dropped; 0 means no limit"},
       &server_options::rate_limit},
      {{.key = "global_rate_limit", .kind = count, .value_name = "N", .default_text = "0",
        .help = "messages per second from all clients, HTTP requests not counted; the rest is "
                "dropped; 0 means no limit"},
       &server_options::global_rate_limit},
      {{.key = "idle_timeout", .kind = seconds, .value_name = "TIME", .default_text = "0",
        .help = "disconnect a client that sends nothing for TIME; 0 means never",
        .only_on = "streams"},
       &server_options::idle_timeout},
      {{.key = "peer_timeout", .kind = seconds, .value_name = "TIME", .default_text = "60",
        .help = "forget a UDP peer that sends nothing for TIME",
        .only_on = "UDP|Ethernet"},
       &server_options::peer_timeout},
      {{.key = "udp_join", .kind = secret, .value_name = "TOKEN",
        .help = "a UDP peer must first send TOKEN in a separate datagram, and gets the answer "
                "'joined'; datagrams from other peers are ignored",
        .only_on = "UDP"},
       &server_options::udp_join},
      {{.key = "udp_allowance", .kind = bytes, .value_name = "SIZE", .default_text = "64KiB",
        .help = "bytes per second to all UDP peers of one network (IPv4 /24, IPv6 /56), in "
                "addition to three times what each has sent; does not apply to peers that joined; "
                "0 means no limit",
        .max = 1ULL << 32U,
        .only_on = "UDP"},
       &server_options::udp_allowance},
  };
}

std::vector<row> buffer_rows() {
  return {
      {{.key = "receive_buffer", .kind = bytes, .value_name = "SIZE", .default_text = "0",
        .help = "size of the kernel's receive buffer of a UDP socket; 0 means the system's default",
        .needs_restart = true, .max = 1U << 29U,
        .only_on = "UDP"},
       &server_options::receive_buffer},
      {{.key = "send_buffer", .kind = bytes, .value_name = "SIZE", .default_text = "0",
        .help = "size of the kernel's send buffer of a UDP socket; 0 means the system's default",
        .needs_restart = true, .max = 1U << 29U,
        .only_on = "UDP"},
       &server_options::send_buffer},
      {{.key = "max_message", .kind = bytes, .value_name = "SIZE", .default_text = "1MiB",
        .help = "longest message; a longer one ends its connection", .max = 1ULL << 30U,
        .min = 1},
       &server_options::max_message},
      {{.key = "max_buffer", .kind = bytes, .value_name = "SIZE", .default_text = "4MiB",
        .help = "bytes buffered for one client that reads slowly", .max = 1ULL << 32U,
        .min = 1024,
        .only_on = "streams"},
       &server_options::max_buffer},
      {{.key = "slow_client", .kind = choice, .value_name = "WHAT",
        .default_text = "disconnect",
        .help = "what to do when max-buffer is full: drop the message or disconnect the client",
        .choices = "drop|disconnect",
        .only_on = "streams"},
       &server_options::slow_client},
      {{.key = "drain", .kind = flag,
        .help = "when stopping, deliver waiting output before closing",
        .only_on = "streams"},
       &server_options::drain},
      {{.key = "drain_timeout", .kind = seconds, .value_name = "TIME", .default_text = "5",
        .help = "longest time for draining",
        .only_with = "drain|write|http_log"},
       &server_options::drain_timeout},
  };
}

// clang-format on

}  // namespace

const std::vector<options::bound_row<server_options>>& option_table() {
  static const auto table = [] {
    auto all = where_rows();
    for (auto&& more :
         {message_rows(), rows_for<server_options>(web_rows()), limit_rows(), buffer_rows(),
          tls_server_rows<server_options>(), script_rows<server_options>()}) {
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

}  // namespace strata::runtime::server
