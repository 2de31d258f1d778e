#include "runtime/proxy/options.hpp"

#include <algorithm>

#include "net/scheme.hpp"
#include "runtime/options/listen_options.hpp"

namespace strata::runtime::proxy {

std::vector<std::string> proxy_options::endpoints() const {
  return listen_urls(port, local, !cert.empty(), listen);
}

namespace {

using enum options::option_kind;
using row = options::bound_row<proxy_options>;

constexpr std::string_view fronts_help =
    "listen on tcp://HOST:PORT, tls://HOST:PORT, unix:///PATH, http://HOST:PORT or "
    "https://HOST:PORT; or for messages on udp://HOST:PORT, ws://HOST:PORT, wss://HOST:PORT, "
    "l2://IFACE/TYPE or xdp://IFACE/QUEUE; repeatable";

// A row is read as a row: one option, two or three lines.
// clang-format off
std::vector<row> own_rows() {
  return {
      {{.key = "backend", .short_flag = 'b', .kind = list, .value_name = "WHERE",
        .help = "pass connections, HTTP requests or messages on to HOST:PORT, a URL (tcp, tls, "
                "unix, http, https; for messages udp, ws, wss, l2, xdp too), a runtime's name or "
                "@GROUP, each runtime of it; each address of a host's name is a backend; "
                "behind a blank, weight=N (1 to 1000), max=N at a time, backup, which serves when "
                "no other does, http2, to use HTTP/2 with it, or proxy=v1 or v2, to tell it by a "
                "PROXY header which client a connection is for; repeatable",
        .reach = options::option_reach::connecting},
       &proxy_options::backend},
      {{.key = "balance", .kind = text, .value_name = "HOW", .default_text = "round-robin",
        .help = "which backend is next: round-robin (in turn by weight), random (any by weight), "
                "least (the one with the fewest connections for its weight), first (the first that "
                "is there), source (one for each client's address), or of HTTP requests path, "
                "header:NAME or cookie:NAME (one for each of those)",
        .choices = "round-robin|random|least|first|source|path|header:|cookie:"},
       &proxy_options::balance},
      {{.key = "connect_timeout", .kind = seconds, .value_name = "TIME", .default_text = "5",
        .help = "longest time that one backend may take to answer; then the next one is tried"},
       &proxy_options::connect_timeout},
      {{.key = "rest", .kind = seconds, .value_name = "TIME", .default_text = "5",
        .help = "a backend that could not be reached, or whose circuit is open, is left alone for "
                "TIME, unless there is no other"},
       &proxy_options::rest},
      {{.key = "circuit_failures", .kind = count, .value_name = "N", .default_text = "5",
        .help = "failures in a row that open a backend's circuit: it is left alone, then tried by "
                "one at a time; 0: none do",
        .max = 1'000'000},
       &proxy_options::circuit_failures},
      {{.key = "circuit_share", .kind = count, .value_name = "PERCENT", .default_text = "50",
        .help = "also open it when this share of at least 20 tries within 10 s failed; 0: never",
        .max = 100},
       &proxy_options::circuit_share},
      {{.key = "panic", .kind = count, .value_name = "PERCENT", .default_text = "0",
        .help = "when less of the backends' weight is ready, use all backends, whatever their "
                "state: the few that are ready could not carry the whole load; 0: only when none "
                "is ready",
        .max = 100},
       &proxy_options::panic},
      {{.key = "slow_start", .kind = seconds, .value_name = "TIME", .default_text = "0",
        .help = "a backend that is there again, or was added, has a tenth of its weight at first "
                "and all of it after TIME; 0 is at once",
        .max = 86'400},
       &proxy_options::slow_start},
      {{.key = "queue", .kind = count, .value_name = "N", .default_text = "1024",
        .help = "clients that may wait while all backends have as many as their max=N lets them",
        .max = 1'000'000},
       &proxy_options::queue},
      {{.key = "queue_timeout", .kind = seconds, .value_name = "TIME", .default_text = "5",
        .help = "how long one waits; then it is answered 503, or its connection is broken off",
        .max = 86'400},
       &proxy_options::queue_timeout},
      {{.key = "idle_timeout", .kind = seconds, .value_name = "TIME", .default_text = "0",
        .help = "end connections on which nothing has come from either side for TIME; 0 is never, "
                "but for those who send datagrams or frames 30 s"},
       &proxy_options::idle_timeout},
      {{.key = "max_connections", .kind = count, .value_name = "N", .default_text = "0",
        .help = "clients at a time; more are refused; 0 is what the limit of open files leaves "
                "room for (ulimit -n)"},
       &proxy_options::max_connections},
      {{.key = "max_buffer", .kind = bytes, .value_name = "SIZE", .default_text = "256KiB",
        .help = "bytes that may wait for a side that reads slowly; the other side waits then",
        .max = 1ULL << 30U, .min = 4096},
       &proxy_options::max_buffer},
  };
}

std::vector<row> stop_rows() {
  return {
      {{.key = "drain", .kind = flag,
        .help = "when stopping, let connections end first; HTTP requests always may"},
       &proxy_options::drain},
      {{.key = "drain_timeout", .kind = seconds, .value_name = "TIME", .default_text = "5",
        .help = "longest time that draining may take"},
       &proxy_options::drain_timeout},
  };
}

std::vector<row> check_rows() {
  return {
      {{.key = "check", .kind = choice, .value_name = "HOW", .default_text = "off",
        .help = "ask backends now and then whether they can serve: by a connection, by agreeing on "
                "TLS with whatever certificate they have, or by a request",
        .choices = "off|tcp|tls|http"},
       &proxy_options::check},
      {{.key = "check_interval", .kind = seconds, .value_name = "TIME", .default_text = "2",
        .help = "how often; a check that takes longer has failed", .max = 86'400,
        .only_with = "check=tcp|check=tls|check=http"},
       &proxy_options::check_interval},
      {{.key = "check_fall", .kind = count, .value_name = "N", .default_text = "3",
        .help = "checks in a row that fail until a backend is down", .max = 1000, .min = 1,
        .only_with = "check=tcp|check=tls|check=http"},
       &proxy_options::check_fall},
      {{.key = "check_rise", .kind = count, .value_name = "N", .default_text = "2",
        .help = "checks in a row that go well until it is up again", .max = 1000, .min = 1,
        .only_with = "check=tcp|check=tls|check=http"},
       &proxy_options::check_rise},
      {{.key = "check_path", .kind = text, .value_name = "PATH", .default_text = "/",
        .help = "what is asked for by GET", .only_with = "check=http"},
       &proxy_options::check_path},
      {{.key = "check_status", .kind = text, .value_name = "LIST", .default_text = "2xx,3xx",
        .help = "answers that are good, as 200,204 or 2xx", .only_with = "check=http"},
       &proxy_options::check_status},
  };
}

std::vector<row> web_rows() {
  return {
      {{.key = "protocol", .kind = choice, .value_name = "WHAT", .default_text = "raw",
        .help = "what is passed on from tcp, tls and unix: connections as they are, or HTTP "
                "requests",
        .needs_restart = true, .choices = "raw|http"},
       &proxy_options::protocol},
      {{.key = "sticky", .kind = text, .value_name = "NAME",
        .help = "give clients a cookie NAME, by which their later requests go to the same backend, "
                "as long as that is up",
        .only_on = "HTTP"},
       &proxy_options::sticky},
      {{.key = "retries", .kind = count, .value_name = "N", .default_text = "2",
        .help = "other backends that an HTTP request is tried on, where the first breaks off "
                "before it answers one that may be sent twice",
        .max = 100, .only_on = "HTTP"},
       &proxy_options::retries},
      {{.key = "answer_timeout", .kind = seconds, .value_name = "TIME", .default_text = "60",
        .help = "longest silence of a backend before its answer, and inside it; 0 is no limit",
        .only_on = "HTTP"},
       &proxy_options::answer_timeout},
      {{.key = "max_idle", .kind = count, .value_name = "N", .default_text = "64",
        .help = "connections to one backend that each loop keeps open for the next HTTP request",
        .max = 100'000, .only_on = "HTTP"},
       &proxy_options::max_idle},
      {{.key = "idle_backend_timeout", .kind = seconds, .value_name = "TIME", .default_text = "30",
        .help = "how long it keeps one that nothing uses",
        .only_on = "HTTP"},
       &proxy_options::idle_backend_timeout},
      {{.key = "route", .kind = list, .value_name = "ROUTE",
        .help = "send HTTP requests elsewhere: 'host=api.example.com path=/v1/* -> 10.0.0.1:80, "
                "10.0.0.2:80 strip=/v1', '... -> redirect=https://example.com/*' or '... -> "
                "answer=403'; or TLS connections that pass through, by the name that they ask "
                "for: 'host=db.example.com -> 10.0.0.3:5433'; the first that matches decides, and "
                "--backend has the rest; repeatable",
        .reach = options::option_reach::connecting, .only_on = "streams"},
       &proxy_options::route},
      {{.key = "error_pages", .kind = text, .value_name = "DIR",
        .help = "send DIR/502.html with an answer of 502 that is the proxy's own, and so for 400, "
                "403, 404, 408, 413, 429, 501, 503, 504 and 508, where there is such a file; "
                "strata reload reads them again",
        .needs_restart = true, .reach = options::option_reach::read_path, .only_on = "HTTP"},
       &proxy_options::error_pages},
      {{.key = "trust", .kind = list, .value_name = "NETWORK",
        .help = "believe what clients in NETWORK, as 10.0.0.0/8, say of those before them "
                "(X-Forwarded-For and the like); repeatable",
        .only_on = "HTTP"},
       &proxy_options::trust},
  };
}

std::vector<row> message_rows() {
  return {
      {{.key = "framing", .kind = choice, .value_name = "HOW", .default_text = "line",
        .help = "what a message is on a stream: a line, a 4-byte big-endian length and its bytes, "
                "or a read",
        .needs_restart = true, .choices = "line|length|raw", .only_on = "messages"},
       &proxy_options::framing},
      {{.key = "max_message", .kind = bytes, .value_name = "SIZE", .default_text = "1MiB",
        .help = "longest message of a stream or a WebSocket; a longer one ends its connection",
        .needs_restart = true, .max = 1ULL << 30U, .min = 1, .only_on = "messages"},
       &proxy_options::max_message},
  };
}

std::vector<row> admission_rows() {
  return {
      {{.key = "allow", .kind = list, .value_name = "NETWORK",
        .help = "serve clients in NETWORK, as 10.0.0.0/8, and refuse others; repeatable"},
       &proxy_options::allow},
      {{.key = "deny", .kind = list, .value_name = "NETWORK",
        .help = "refuse clients in NETWORK, whatever --allow says; repeatable"},
       &proxy_options::deny},
      {{.key = "rate_per_client", .kind = count, .value_name = "N", .default_text = "0",
        .help = "HTTP requests a second (429 beyond), or other connections (closed), of one "
                "client's address, of IPv6 of its /64; loops share it; 0 is no limit",
        .max = 1'000'000},
       &proxy_options::rate_per_client},
  };
}

std::vector<row> head_rows() {
  return {
      {{.key = "request_header", .kind = list, .value_name = "RULE",
        .help = "change the fields of requests on their way to backends: 'set NAME: VALUE', 'add "
                "NAME: VALUE' or 'remove NAME'; of messages, of those that open a backend's "
                "WebSocket; repeatable",
        .only_on = "HTTP|WebSocket backends"},
       &proxy_options::request_header},
      {{.key = "answer_header", .kind = list, .value_name = "RULE",
        .help = "the same of answers on their way to clients; repeatable",
        .only_on = "HTTP"},
       &proxy_options::answer_header},
      {{.key = "forwarded", .kind = flag,
        .help = "tell backends of the client by Forwarded (RFC 7239) too, beside X-Forwarded-For",
        .only_on = "HTTP"},
       &proxy_options::forwarded},
      {{.key = "request_id", .kind = flag,
        .help = "give each request an X-Request-Id, which backends, the client and the access log "
                "get; one that a trusted client says stays",
        .only_on = "HTTP"},
       &proxy_options::request_id},
      {{.key = "traceparent", .kind = flag,
        .help = "give each request a traceparent (W3C's trace context); one that a trusted client "
                "says stays",
        .only_on = "HTTP"},
       &proxy_options::traceparent},
  };
}

std::vector<row> log_rows() {
  return {
      {{.key = "access_log", .kind = text, .value_name = "FILE",
        .help = "append a line to FILE for each HTTP request; SIGHUP to the daemon opens it again",
        .needs_restart = true, .reach = options::option_reach::written_path, .only_on = "HTTP"},
       &proxy_options::access_log},
      {{.key = "access_format", .kind = text, .value_name = "FORMAT", .default_text = "combined",
        .help = "how that line is written: combined, json, or as '%{client} %{status}' says",
        .needs_restart = true, .only_with = "access_log"},
       &proxy_options::access_format},
  };
}
// clang-format on

}  // namespace

const std::vector<options::bound_row<proxy_options>>& option_table() {
  static const auto table = [] {
    auto all = listen_rows<proxy_options>(fronts_help);
    all.push_back(threads_row<proxy_options>());
    for (auto&& more : {own_rows(), stop_rows(), check_rows(), message_rows(), web_rows(),
                        head_rows(), admission_rows(), log_rows(), http_limit_rows<proxy_options>(),
                        tls_server_rows<proxy_options>(),
                        tls_client_rows<proxy_options>({.only_on = "TLS to backends"}),
                        script_rows<proxy_options>()}) {
      all.insert(all.end(), more.begin(), more.end());
    }
    // It limits what comes before a connection is passed on, whatever that is.
    const auto handshake = std::ranges::find_if(
        all, [](const row& each) { return each.row.key == "handshake_timeout"; });
    handshake->row.only_on = "streams";
    handshake->row.help =
        "longest time for a client's TLS handshake, WebSocket handshake, PROXY header or, with "
        "routes by name, SNI";
    return with_runtime_options(std::move(all));
  }();
  return table;
}

const std::vector<options::option_row>& option_rows() {
  static const auto rows = rows_of(option_table());
  return rows;
}

}  // namespace strata::runtime::proxy
