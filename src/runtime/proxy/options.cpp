#include "runtime/proxy/options.hpp"

#include <algorithm>

#include "net/scheme.hpp"
#include "runtime/options/listen_options.hpp"
#include "runtime/options/message_options.hpp"

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

// One option per row of two or three lines.
// clang-format off
std::vector<row> own_rows() {
  return {
      {{.key = "backend", .short_flag = 'b', .kind = list, .value_name = "WHERE",
        .help = "forward connections, HTTP requests or messages to HOST:PORT, a URL (tcp, tls, "
                "unix, http, https; for messages also udp, ws, wss, l2, xdp), a runtime's name, or "
                "@GROUP for all its runtimes; each address of a host name is a backend. Options "
                "after a blank: weight=N (1 to 1000), max=N at the same time, backup: serves only "
                "when no other can, http2: use HTTP/2, proxy=v1 or v2: name the client in a PROXY "
                "header, prefer=local or prefer=zone: the runtimes of other daemons, or of those "
                "in other zones, are backups; repeatable, or several with commas between them",
        .reach = options::option_reach::connecting, .separators = ",;"},
       &proxy_options::backend},
      {{.key = "balance", .kind = text, .value_name = "HOW", .default_text = "round-robin",
        .help = "how to choose a backend: round-robin (in turn, by weight), random (by weight), "
                "least (fewest connections for its weight), first (the first that is available), "
                "source (by the client's address), or for HTTP requests path, header:NAME or "
                "cookie:NAME (the same backend for the same value)",
        .choices = "round-robin|random|least|first|source|path|header:|cookie:"},
       &proxy_options::balance},
      {{.key = "connect_timeout", .kind = seconds, .value_name = "TIME", .default_text = "5",
        .help = "longest time to connect to one backend; then the next one is tried"},
       &proxy_options::connect_timeout},
      {{.key = "rest", .kind = seconds, .value_name = "TIME", .default_text = "5",
        .help = "do not use a backend that could not be reached, or whose circuit is open, for "
                "TIME, unless there is no other"},
       &proxy_options::rest},
      {{.key = "circuit_failures", .kind = count, .value_name = "N", .default_text = "5",
        .help = "consecutive failures that open a backend's circuit: it is not used, and then "
                "tried by one client at a time; 0 means never",
        .max = 1'000'000},
       &proxy_options::circuit_failures},
      {{.key = "circuit_share", .kind = count, .value_name = "PERCENT", .default_text = "50",
        .help = "also open the circuit when this share of at least 20 tries within 10 s failed; 0 "
                "means never",
        .max = 100},
       &proxy_options::circuit_share},
      {{.key = "panic", .kind = count, .value_name = "PERCENT", .default_text = "0",
        .help = "use all backends, whatever their state, when less than this share of their weight "
                "is ready, since the few ready ones could not carry the whole load; 0 means only "
                "when none is ready",
        .max = 100},
       &proxy_options::panic},
      {{.key = "slow_start", .kind = seconds, .value_name = "TIME", .default_text = "0",
        .help = "a backend that has recovered or was added starts with a tenth of its weight and "
                "reaches all of it after TIME; 0 means at once",
        .max = 86'400},
       &proxy_options::slow_start},
      {{.key = "queue", .kind = count, .value_name = "N", .default_text = "1024",
        .help = "clients that may wait while all backends have reached their max=N",
        .max = 1'000'000},
       &proxy_options::queue},
      {{.key = "queue_timeout", .kind = seconds, .value_name = "TIME", .default_text = "5",
        .help = "longest wait of a client; then it gets a 503, or its connection is closed",
        .max = 86'400},
       &proxy_options::queue_timeout},
      {{.key = "idle_timeout", .kind = seconds, .value_name = "TIME", .default_text = "0",
        .help = "close connections on which neither side has sent anything for TIME; 0 means "
                "never, except for clients that send datagrams or frames: 30 s"},
       &proxy_options::idle_timeout},
      {{.key = "max_connections", .kind = count, .value_name = "N", .default_text = "0",
        .help = "clients connected at the same time; more are refused; 0 means as many as "
                "the limit of open files permits (ulimit -n)"},
       &proxy_options::max_connections},
      {{.key = "max_buffer", .kind = bytes, .value_name = "SIZE", .default_text = "256KiB",
        .help = "bytes buffered for a side that reads slowly; when full, the other side is not "
                "read",
        .max = 1ULL << 30U, .min = 4096},
       &proxy_options::max_buffer},
  };
}

std::vector<row> stop_rows() {
  return {
      {{.key = "drain", .kind = flag,
        .help = "when stopping, wait for connections to end; HTTP requests may always end"},
       &proxy_options::drain},
      {{.key = "drain_timeout", .kind = seconds, .value_name = "TIME", .default_text = "5",
        .help = "longest time for draining"},
       &proxy_options::drain_timeout},
  };
}

std::vector<row> check_rows() {
  return {
      {{.key = "check", .kind = choice, .value_name = "HOW", .default_text = "off",
        .help = "check regularly whether backends can serve: tcp: connect, tls: complete a TLS "
                "handshake with any certificate, http: send a request",
        .choices = "off|tcp|tls|http"},
       &proxy_options::check},
      {{.key = "check_interval", .kind = seconds, .value_name = "TIME", .default_text = "2",
        .help = "time between checks; a check that takes longer fails", .max = 86'400,
        .only_with = "check=tcp|check=tls|check=http"},
       &proxy_options::check_interval},
      {{.key = "check_fall", .kind = count, .value_name = "N", .default_text = "3",
        .help = "consecutive failed checks after which a backend is down", .max = 1000, .min = 1,
        .only_with = "check=tcp|check=tls|check=http"},
       &proxy_options::check_fall},
      {{.key = "check_rise", .kind = count, .value_name = "N", .default_text = "2",
        .help = "consecutive successful checks after which a backend is up again",
        .max = 1000, .min = 1,
        .only_with = "check=tcp|check=tls|check=http"},
       &proxy_options::check_rise},
      {{.key = "check_path", .kind = text, .value_name = "PATH", .default_text = "/",
        .help = "path that a check requests with GET", .only_with = "check=http"},
       &proxy_options::check_path},
      {{.key = "check_status", .kind = text, .value_name = "LIST", .default_text = "2xx,3xx",
        .help = "status codes of a successful check, such as 200,204 or 2xx",
        .only_with = "check=http"},
       &proxy_options::check_status},
  };
}

std::vector<row> web_rows() {
  return {
      {{.key = "protocol", .kind = choice, .value_name = "WHAT", .default_text = "raw",
        .help = "what to forward from tcp, tls and unix: raw: connections as they are, http: HTTP "
                "requests",
        .needs_restart = true, .choices = "raw|http"},
       &proxy_options::protocol},
      {{.key = "sticky", .kind = text, .value_name = "NAME",
        .help = "give clients a cookie NAME that sends their later requests to the same backend "
                "while it is up",
        .only_on = "HTTP"},
       &proxy_options::sticky},
      {{.key = "retries", .kind = count, .value_name = "N", .default_text = "2",
        .help = "number of other backends to try for an HTTP request that may be sent twice, when "
                "a backend breaks off before it answers",
        .max = 100, .only_on = "HTTP"},
       &proxy_options::retries},
      {{.key = "answer_timeout", .kind = seconds, .value_name = "TIME", .default_text = "60",
        .help = "longest silence of a backend before its answer and within it; 0 means no limit",
        .only_on = "HTTP"},
       &proxy_options::answer_timeout},
      {{.key = "max_idle", .kind = count, .value_name = "N", .default_text = "64",
        .help = "idle connections per backend and loop to keep open for further HTTP requests",
        .max = 100'000, .only_on = "HTTP"},
       &proxy_options::max_idle},
      {{.key = "idle_backend_timeout", .kind = seconds, .value_name = "TIME", .default_text = "30",
        .help = "how long to keep an idle connection to a backend",
        .only_on = "HTTP"},
       &proxy_options::idle_backend_timeout},
      {{.key = "route", .kind = list, .value_name = "ROUTE",
        .help = "route HTTP requests: 'host=api.example.com path=/v1/* -> 10.0.0.1:80, 10.0.0.2:80 "
                "strip=/v1', '... -> redirect=https://example.com/*' or '... -> answer=403'; or "
                "TLS connections that pass through, by the name in their handshake (SNI): "
                "'host=db.example.com -> 10.0.0.3:5433'. The first route that matches decides; "
                "--backend gets the rest; repeatable",
        .reach = options::option_reach::connecting, .only_on = "streams"},
       &proxy_options::route},
      {{.key = "error_pages", .kind = text, .value_name = "DIR",
        .help = "send DIR/502.html as the body of the proxy's own 502 answers, and the same for "
                "400, 403, 404, 408, 413, 429, 501, 503, 504 and 508 if the file exists; strata "
                "reload rereads the files",
        .needs_restart = true, .reach = options::option_reach::read_path, .only_on = "HTTP"},
       &proxy_options::error_pages},
      {{.key = "trust", .kind = list, .value_name = "NETWORK",
        .help = "trust what clients in NETWORK, such as 10.0.0.0/8, report about the clients "
                "before them (X-Forwarded-For and similar fields); repeatable",
        .only_on = "HTTP"},
       &proxy_options::trust},
  };
}

std::vector<row> message_rows() {
  return {
      framing_row<proxy_options>("messages"),
      {{.key = "max_message", .kind = bytes, .value_name = "SIZE", .default_text = "1MiB",
        .help = "longest message of a stream or a WebSocket; a longer one ends its connection",
        .needs_restart = true, .max = 1ULL << 30U, .min = 1, .only_on = "messages"},
       &proxy_options::max_message},
  };
}

std::vector<row> admission_rows() {
  return {
      {{.key = "allow", .kind = list, .value_name = "NETWORK",
        .help = "serve only clients in NETWORK, such as 10.0.0.0/8; repeatable"},
       &proxy_options::allow},
      {{.key = "deny", .kind = list, .value_name = "NETWORK",
        .help = "refuse clients in NETWORK, even if --allow includes them; repeatable"},
       &proxy_options::deny},
      {{.key = "rate_per_client", .kind = count, .value_name = "N", .default_text = "0",
        .help = "HTTP requests per second (more get 429) or other connections per second "
                "(more are closed) from one client address (IPv6: its /64), over all "
                "loops; 0 means no limit",
        .max = 1'000'000},
       &proxy_options::rate_per_client},
  };
}

std::vector<row> head_rows() {
  return {
      {{.key = "request_header", .kind = list, .value_name = "RULE",
        .help = "change header fields of requests to backends: 'set NAME: VALUE', 'add NAME: "
                "VALUE' or 'remove NAME'; with messages, of the requests that open a backend's "
                "WebSocket; repeatable",
        .only_on = "HTTP|WebSocket backends"},
       &proxy_options::request_header},
      {{.key = "answer_header", .kind = list, .value_name = "RULE",
        .help = "change header fields of answers to clients, in the same way; repeatable",
        .only_on = "HTTP"},
       &proxy_options::answer_header},
      {{.key = "forwarded", .kind = flag,
        .help = "also send backends a Forwarded field (RFC 7239) about the client, in addition to "
                "X-Forwarded-For",
        .only_on = "HTTP"},
       &proxy_options::forwarded},
      {{.key = "request_id", .kind = flag,
        .help = "give each request an X-Request-Id, for backends, the client and the access log; "
                "keeps one from a trusted client",
        .only_on = "HTTP"},
       &proxy_options::request_id},
      {{.key = "traceparent", .kind = flag,
        .help = "give each request a traceparent (W3C Trace Context); keeps one from a trusted "
                "client",
        .only_on = "HTTP"},
       &proxy_options::traceparent},
  };
}

std::vector<row> log_rows() {
  return {
      {{.key = "access_log", .kind = text, .value_name = "FILE",
        .help = "append a line to FILE for each HTTP request; SIGHUP to the daemon reopens it",
        .needs_restart = true, .reach = options::option_reach::written_path, .only_on = "HTTP"},
       &proxy_options::access_log},
      {{.key = "access_format", .kind = text, .value_name = "FORMAT", .default_text = "combined",
        .help = "format of a line in the access log: combined, json, or a pattern such as "
                "'%{client} %{status}'",
        .needs_restart = true, .only_with = "access_log"},
       &proxy_options::access_format},
  };
}
// clang-format on

}  // namespace

const std::vector<options::bound_row<proxy_options>>& option_table() {
  static const auto table = [] {
    auto all = listen_rows<proxy_options>(fronts_help);
    // Elsewhere a proxy's port takes HTTP requests.
    all.front().row.help =
        "listen on tcp://*:PORT (all addresses), or with --cert on tls://*:PORT; 0 chooses a free "
        "port. Connections are passed as they are; --listen http://HOST:PORT, or --protocol http "
        "beside -p, passes HTTP requests";
    all.push_back(threads_row<proxy_options>());
    for (auto&& more : {own_rows(), stop_rows(), check_rows(), message_rows(), web_rows(),
                        head_rows(), admission_rows(), log_rows(), http_limit_rows<proxy_options>(),
                        tls_server_rows<proxy_options>(),
                        tls_client_rows<proxy_options>({.only_on = "TLS to backends"}),
                        script_rows<proxy_options>()}) {
      all.insert(all.end(), more.begin(), more.end());
    }
    // For a proxy it limits everything that precedes passing on a connection.
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

std::span<const options::flag_set> flag_sets() {
  static constexpr options::flag_set::flag_value of_sidecar[] = {{.key = "check", .text = "tcp"},
                                                                 {.key = "drain", .text = "true"}};
  static constexpr options::flag_set sets[] = {
      {.row = {.key = "sidecar",
               .kind = flag,
               .help = "for a proxy beside the service that uses it: --check tcp --drain"},
       .members = of_sidecar}};
  return sets;
}

}  // namespace strata::runtime::proxy
