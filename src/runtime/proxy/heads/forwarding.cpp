#include "runtime/proxy/heads/forwarding.hpp"

#include <algorithm>
#include <array>
#include <charconv>

#include "proto/http/http_fields.hpp"
#include "proto/token.hpp"
#include "proto/websocket/websocket_handshake.hpp"
#include "runtime/proxy/heads/tracing.hpp"

namespace strata::runtime::proxy {

namespace {

// Fields of one connection (RFC 9110 section 7.6.1), and those that conflict with our framing.
constexpr std::array<std::string_view, 10> own_of_a_connection = {
    "connection",         "keep-alive", "proxy-connection",
    "transfer-encoding",  "te",         "proxy-authorization",
    "proxy-authenticate", "upgrade",    "content-length",
    "http2-settings"};

template <std::size_t Size>
bool is_one_of(std::string_view name, const std::array<std::string_view, Size>& all) {
  return std::ranges::find(all, name) != all.end();
}

// Fields that route requests, or by which backends distinguish clients. A client that names them in
// Connection would have them removed behind the proxy's decision, so they stay.
bool is_for_all(std::string_view name) {
  constexpr std::array<std::string_view, 6> kept = {"host",      "cookie",    "authorization",
                                                    "forwarded", "x-real-ip", "via"};
  return is_one_of(name, kept) || name.starts_with("x-forwarded-");
}

// Connection names further fields of this connection; usually it has one word that is not a field.
void keep_end_to_end(proto::http_fields& fields) {
  const bool names_some = std::ranges::any_of(fields, [](const auto& field) {
    const auto& [name, value] = field;
    return name == "connection" && value != "keep-alive" && value != "close";
  });
  const auto all = names_some ? fields : proto::http_fields{};
  std::erase_if(fields, [&](const auto& field) {
    return is_one_of(field.first, own_of_a_connection) ||
           (names_some && !is_for_all(field.first) &&
            proto::has_token(all, "connection", field.first));
  });
}

void drop(proto::http_fields& fields, std::string_view name) {
  std::erase_if(fields, [name](const auto& field) { return field.first == name; });
}

/// Appends `more` to the value of the last such field, or adds a field.
void append(proto::http_fields& fields, std::string_view name, const std::string& more) {
  const auto last = std::find_if(fields.rbegin(), fields.rend(),
                                 [name](const auto& field) { return field.first == name; });
  if (last == fields.rend()) {
    fields.emplace_back(name, more);
  } else {
    last->second.append(", ").append(more);
  }
}

void set_default(proto::http_fields& fields, std::string_view name, const std::string& value) {
  if (!proto::find_field(fields, name)) fields.emplace_back(name, value);
}

// Returns the path of `http://host/path`; the host is in the Host field.
std::string origin_form(const std::string& method, const std::string& target) {
  const auto scheme = target.find("://");
  if (target.starts_with('/') || target == "*" || scheme == std::string::npos) return target;
  const auto path = target.find_first_of("/?", scheme + 3);
  // RFC 9112 section 3.2.4: for OPTIONS, no path means the whole server.
  if (path == std::string::npos) return method == "OPTIONS" ? "*" : "/";
  return (target[path] == '?' ? "/" : "") + target.substr(path);
}

// A target is written into a request line: nothing in it may end that line.
bool is_printable(std::string_view text) {
  return !text.empty() && std::ranges::all_of(text, [](char character) {
    return character > ' ' && character < 0x7f;
  });
}

// An IPv6 address has brackets in Forwarded (RFC 7239 section 6), but not in X-Forwarded-For.
std::string without_brackets(std::string_view address) {
  const bool has_brackets = address.starts_with('[') && address.ends_with(']');
  return std::string(has_brackets ? address.substr(1, address.size() - 2) : address);
}

void add_client_fields(proto::http_fields& fields, const forwarding& forwarding) {
  constexpr std::array<std::string_view, 5> names = {"x-forwarded-for", "x-forwarded-proto",
                                                     "x-forwarded-host", "x-real-ip", "forwarded"};
  if (!forwarding.is_trusted) {
    for (const auto name : names) drop(fields, name);
  }
  if (!forwarding.client.empty())
    append(fields, "x-forwarded-for", without_brackets(forwarding.client));
  set_default(fields, "x-forwarded-proto", forwarding.is_secure ? "https" : "http");
  const auto host = proto::find_field(fields, "host");
  if (host) set_default(fields, "x-forwarded-host", std::string(*host));
}

// RFC 7239: an IPv6 address, which is in brackets here, and a name with a port are quoted.
std::string quoted_where_needed(std::string_view text) {
  return proto::is_token(text) ? std::string(text) : "\"" + std::string(text) + "\"";
}

void add_forwarded(proto::http_fields& fields, const forwarding& forwarding) {
  std::string value =
      "for=" + quoted_where_needed(forwarding.client.empty() ? "unknown" : forwarding.client);
  const auto host = proto::find_field(fields, "host");
  if (host && !host->contains('"') && !host->contains('\\')) {
    value += ";host=" + quoted_where_needed(*host);
  }
  append(fields, "forwarded", value + (forwarding.is_secure ? ";proto=https" : ";proto=http"));
}

// Ids from a trusted client stay, if they are valid.
void set_traces(proto::http_fields& fields, const forwarding& forwarding) {
  const auto stays = [&](std::string_view name, bool (*is_right)(std::string_view)) {
    const auto said = proto::find_field(fields, name);
    return forwarding.is_trusted && said && is_right(*said);
  };
  if (!forwarding.request_id.empty() && !stays("x-request-id", is_request_id)) {
    drop(fields, "x-request-id");
    fields.emplace_back("x-request-id", forwarding.request_id);
  }
  if (!forwarding.traceparent.empty() && !stays("traceparent", is_traceparent)) {
    drop(fields, "traceparent");
    drop(fields, "tracestate");
    fields.emplace_back("traceparent", forwarding.traceparent);
  }
}

bool has_passed_here(const proto::http_fields& fields, std::string_view pseudonym) {
  return std::ranges::any_of(fields, [pseudonym](const auto& field) {
    return field.first == "via" && field.second.contains(pseudonym);
  });
}

}  // namespace

std::expected<forwarded_request, forward_refusal> forward(const proto::http_request& request,
                                                          const forwarding& forwarding) {
  const bool is_websocket = request.protocol == "websocket";
  if (request.method == "CONNECT" && !is_websocket) {
    return std::unexpected(forward_refusal{501,
                                           "this proxy makes no tunnels: it does not forward "
                                           "CONNECT"});
  }
  if (!is_printable(request.target)) {
    return std::unexpected(forward_refusal{400, "the request's target has an invalid character"});
  }
  if (has_passed_here(request.headers, forwarding.pseudonym)) {
    return std::unexpected(forward_refusal{508,
                                           "the request has come through this proxy before: "
                                           "its backends lead back to it"});
  }
  forwarded_request made{.method = is_websocket ? "GET" : request.method,
                         .target = origin_form(request.method, request.target),
                         .fields = {},
                         .upgrade = {}};
  made.fields.reserve(request.headers.size() + 8);
  made.fields = request.headers;
  keep_end_to_end(made.fields);
  // The backend decides on 100. HTTP/1.0 cannot ask for it.
  if (request.version == 10) drop(made.fields, "expect");
  if (!proto::find_field(made.fields, "host")) {
    made.fields.emplace(made.fields.begin(), "host", forwarding.backend_host);
  }
  add_client_fields(made.fields, forwarding);
  if (forwarding.says_forwarded) add_forwarded(made.fields, forwarding);
  set_traces(made.fields, forwarding);
  append(made.fields, "via",
         (request.version == 10 ? "1.0 " : "1.1 ") + std::string(forwarding.pseudonym));
  const auto asked = request.header("upgrade");
  if (is_websocket) {
    made.upgrade = request.protocol;
    set_default(made.fields, "sec-websocket-key", forwarding.websocket_key);
  } else if (asked && proto::has_token(request.headers, "connection", "upgrade") &&
             !proto::has_token(request.headers, "upgrade", "h2c")) {
    made.upgrade = *asked;
  }
  if (!made.upgrade.empty()) {
    made.fields.emplace_back("connection", "upgrade");
    made.fields.emplace_back("upgrade", made.upgrade);
  }
  return made;
}

proto::http_fields answered_fields(proto::http_fields fields, bool is_upgraded) {
  const auto upgrade = proto::find_field(fields, "upgrade");
  const auto protocol = std::string(upgrade.value_or(""));
  keep_end_to_end(fields);
  if (is_upgraded) {
    fields.emplace_back("connection", "upgrade");
    fields.emplace_back("upgrade", protocol);
  }
  return fields;
}

bool is_of_one_connection(std::string_view name) { return is_one_of(name, own_of_a_connection); }

proto::http_fields passed_trailers(proto::http_fields fields) {
  constexpr std::array<std::string_view, 14> of_heads = {
      "host",          "trailer",          "authorization", "cookie",           "set-cookie",
      "cache-control", "content-encoding", "content-type",  "content-range",    "expect",
      "via",           "x-forwarded-for",  "forwarded",     "x-forwarded-proto"};
  std::erase_if(fields, [&](const auto& field) {
    return is_one_of(field.first, own_of_a_connection) || is_one_of(field.first, of_heads);
  });
  return fields;
}

std::optional<std::uint64_t> length_of(const proto::http_fields& fields) {
  const auto text = proto::find_field(fields, "content-length");
  if (!text || proto::find_field(fields, "transfer-encoding")) return std::nullopt;
  std::uint64_t length = 0;
  const auto [end, code] = std::from_chars(text->data(), text->data() + text->size(), length);
  if (code != std::errc{} || end != text->data() + text->size()) return std::nullopt;
  return length;
}

bool is_idempotent(std::string_view method) {
  constexpr std::array<std::string_view, 6> all = {"GET",    "HEAD",    "PUT",
                                                   "DELETE", "OPTIONS", "TRACE"};
  return is_one_of(method, all);
}

}  // namespace strata::runtime::proxy
