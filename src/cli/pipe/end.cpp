#include "cli/pipe/end.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <string_view>

#include "cli/line/command_line.hpp"
#include "http/field.hpp"
#include "http/websocket_port.hpp"
#include "net/scheme.hpp"

namespace strata::cli {

namespace {

constexpr std::string_view listen_prefix = "listen:";

outcome<pipe_end> parse_end(const invocation& call, std::size_t offset) {
  if (call.is_dash(offset)) return pipe_end{};
  const std::string& word = call.words[offset];
  const bool listens = word.starts_with(listen_prefix);
  const auto text = std::string_view(word).substr(listens ? listen_prefix.size() : 0);
  const auto url = listens ? net::parse_endpoint(text) : net::parse_connecting(text);
  if (!url) return refuse(exit_misused, url.error());
  const auto& scheme = *url->scheme;
  if (scheme.connect == nullptr) {
    return refuse(exit_misused,
                  fmt::format("cannot join '{}': only runtimes of the daemon find each other by "
                              "name; give the address that 'strata ls' shows",
                              word));
  }
  if (!scheme.has_messages) {
    return refuse(
        exit_misused,
        fmt::format("cannot join '{}': a pipe speaks no HTTP but WebSocket; write {}://, "
                    "or {}:// for the bytes alone",
                    word, scheme.is_secure ? "wss" : "ws", scheme.is_secure ? "tls" : "tcp"));
  }
  return pipe_end{listens ? pipe_end::kind::listening : pipe_end::kind::connecting, *url};
}

struct effect {
  std::string_view keys;  // flags, with spaces around each
  std::string_view wants;
  bool (*has_it)(const pipe_end& end);
};

bool opens_web(const pipe_end& end) { return end.connects() && end.url.is_web(); }
bool accepts_web(const pipe_end& end) { return end.listens() && end.url.is_web(); }

// One entry per row.
// clang-format off
constexpr effect effects[] = {
    {" fork ", "an end that accepts connections, such as listen:tcp://HOST:PORT",
     [](const pipe_end& end) { return end.accepts(); }},
    {" framing max_message linger ", "an end with messages: ws, wss, udp, l2 or xdp",
     [](const pipe_end& end) { return end.has_messages(); }},
    {" header ", "an end that opens a WebSocket: ws or wss", opens_web},
    {" ws_protocol ws_ping ", "a WebSocket end: ws or wss",
     [](const pipe_end& end) { return opens_web(end) || accepts_web(end); }},
    {" ws_origin ", "an end that accepts WebSockets: listen:ws or listen:wss", accepts_web},
    {" connect_timeout ", "an end that connects",
     [](const pipe_end& end) { return end.connects(); }},
    {" ca servername client_cert client_key insecure ", "an end that connects with TLS: tls or wss",
     [](const pipe_end& end) { return end.connects() && end.is_secure(); }},
    {" handshake_timeout ", "an end that accepts TLS or WebSockets: listen:tls, listen:ws",
     [](const pipe_end& end) { return end.listens() && (end.is_secure() || end.url.is_web()); }},
    {" cert key client_ca tls_min ", "an end that accepts TLS: listen:tls or listen:wss",
     [](const pipe_end& end) { return end.listens() && end.is_secure(); }},
};
// clang-format on

outcome<> check_effects(const nlohmann::json& given, const pipe_ends& ends) {
  for (const auto& [key, value] : given.items()) {
    const auto* const row = std::ranges::find_if(
        effects, [&](const effect& each) { return each.keys.contains(fmt::format(" {} ", key)); });
    if (row == std::end(effects) || std::ranges::any_of(ends, row->has_it)) continue;
    return refuse(exit_misused,
                  fmt::format("cannot use {}: it has no effect without {}; leave it out",
                              options::long_flag({.key = key}), row->wants));
  }
  return {};
}

// Checks flags that depend on each other or on the ends.
outcome<> check_together(const pipe_options& options, const pipe_ends& ends) {
  if (options.client_cert.empty() != options.client_key.empty()) {
    return refuse(exit_misused, "give both --client-cert and --client-key");
  }
  if (options.cert.size() != options.key.size()) {
    return refuse(exit_misused,
                  fmt::format("--cert is given {} times and --key {} times; give one --key FILE "
                              "for each --cert FILE, in the same order",
                              options.cert.size(), options.key.size()));
  }
  for (const auto& each : ends) {
    if (!each.listens() || !each.is_secure() || !options.cert.empty()) continue;
    return refuse(exit_misused,
                  fmt::format("cannot listen on '{}': no certificate is given; give --cert FILE "
                              "and --key FILE; 'strata cert make NAME' makes both",
                              each.url.text()));
  }
  if (!options.fork) return {};
  if (!std::ranges::any_of(ends, &pipe_end::connects)) {
    return refuse(exit_misused,
                  "--fork opens a connection to the other end for each peer: give that end as a "
                  "URL to connect to");
  }
  return {};
}

outcome<> check_web(const pipe_options& options) {
  http::websocket_wishes wishes{.fields = {}, .protocols = options.ws_protocol};
  for (const auto& each : options.header) {
    auto field = http::parse_field(each);
    if (!field) return refuse(exit_misused, field.error());
    wishes.fields.push_back(std::move(*field));
  }
  const auto checked = http::check_wishes(wishes);
  if (!checked) return refuse(exit_misused, checked.error());
  return {};
}

}  // namespace

bool pipe_end::has_messages() const { return !is_standard() && (url.is_web() || !url.is_stream()); }

bool pipe_end::is_secure() const { return !is_standard() && url.scheme->is_secure; }

bool pipe_end::accepts() const { return listens() && url.is_stream(); }

std::string pipe_end::text() const {
  return is_standard() ? "standard input and output" : url.text();
}

outcome<pipe_ends> parse_ends(const invocation& call) {
  pipe_ends ends;
  for (std::size_t at = 0; at < ends.size(); ++at) {
    auto end = parse_end(call, at);
    if (!end) return std::unexpected(end.error());
    ends[at] = std::move(*end);
  }
  if (ends[0].is_standard() && ends[1].is_standard()) {
    return refuse(exit_misused,
                  "only one end can be '-' (standard input and output); give the other as a URL");
  }
  return ends;
}

outcome<pipe_options> read_pipe_options(const invocation& call, const pipe_ends& ends) {
  const auto& table = pipe_option_table();
  const auto given = pick_flags(call.flags, options::rows_of(table));
  pipe_options wanted;
  if (auto applied = options::apply_json(wanted, table, given); !applied) {
    return refuse(exit_misused, applied.error());
  }
  if (auto checked = check_effects(given, ends); !checked) return std::unexpected(checked.error());
  if (auto checked = check_together(wanted, ends); !checked) {
    return std::unexpected(checked.error());
  }
  if (auto checked = check_web(wanted); !checked) return std::unexpected(checked.error());
  return wanted;
}

}  // namespace strata::cli
