#include "runtime/proxy/ends.hpp"

#include <algorithm>

#include "net/scheme.hpp"

namespace strata::runtime::proxy {

namespace {

/// ws:// and wss://
bool is_websocket(const net::endpoint_url& url) { return url.is_web() && url.scheme->has_messages; }

bool is_of_messages(const net::endpoint_url& url) { return !url.is_stream() || is_websocket(url); }

}  // namespace

std::vector<std::string> all_backends(const proxy_options& options) {
  auto all = options.backend;
  for (const auto& each : options.route) {
    const auto known = parse_route(each);
    if (known) all.insert(all.end(), known->backends.begin(), known->backends.end());
  }
  return all;
}

// A WebSocket behind an HTTP front is one of the requests.
bool joins_messages(const proxy_options& options) {
  const auto fronts = options.endpoints();
  if (std::ranges::any_of(fronts, [&](const auto& each) { return has_web(options, each); })) {
    return false;
  }
  const auto is_front = [](const std::string& text) {
    const auto url = net::parse_listening(text);
    return url && is_of_messages(*url);
  };
  const auto is_backend = [](const std::string& text) {
    const auto known = parse_backend(text);
    return known && is_of_messages(known->url);
  };
  return std::ranges::any_of(fronts, is_front) || std::ranges::any_of(options.backend, is_backend);
}

bool leads_to_websockets(const proxy_options& options) {
  return std::ranges::any_of(options.backend, [](const std::string& text) {
    const auto known = parse_backend(text);
    return known && is_websocket(known->url);
  });
}

bool has_web(const proxy_options& options, const std::string& front) {
  const auto url = net::parse_listening(front);
  return options.protocol == "http" || (url && url->is_web() && !is_websocket(*url));
}

bool goes_by_names(const proxy_options& options) {
  return !options.route.empty() && !joins_messages(options) &&
         std::ranges::none_of(options.endpoints(),
                              [&](const auto& each) { return has_web(options, each); });
}

bool may_be_secure(const std::vector<std::string>& backends) {
  return std::ranges::any_of(backends, [](const std::string& text) {
    const auto known = parse_backend(text);
    return known &&
           (known->url.scheme->is_secure || known->url.scheme->form == net::url_form::name);
  });
}

result<void> check_fronts(const proxy_options& options) {
  const auto fronts = options.endpoints();
  const auto is_web_here = [&](const auto& each) { return has_web(options, each); };
  const bool is_web = std::ranges::any_of(fronts, is_web_here);
  for (const auto& each : fronts) {
    const auto url = net::parse_listening(each);
    if (!url) return std::unexpected(url.error());
    if (is_web && is_of_messages(*url)) {
      return failure(errc::invalid_argument, "listen on '" + each + "'",
                     "another endpoint of the proxy carries HTTP requests, but this one messages",
                     is_websocket(*url) ? "leave it out: the HTTP endpoint also accepts WebSockets"
                                        : "create a proxy for each of them");
    }
  }
  return {};
}

result<void> check_route(const proxy_options& options, const route_text& route) {
  const auto refuse = [&route](std::string reason, std::string remedy) {
    return failure(errc::invalid_argument, "use route '" + route.text + "'", std::move(reason),
                   std::move(remedy));
  };
  if (joins_messages(options)) return refuse("a proxy for messages has no routes", "leave it out");
  if (!goes_by_names(options)) return {};
  if (!is_of_names(route)) {
    return refuse(
        "connections pass through as they are, so only the name in their TLS handshake "
        "(SNI) is known",
        "write host=NAME -> BACKEND, or give --protocol http");
  }
  const auto ends_tls = [](const auto& each) {
    const auto url = net::parse_listening(each);
    return url && url->scheme->is_secure;
  };
  if (std::ranges::any_of(options.endpoints(), ends_tls)) {
    return refuse(
        "this proxy ends TLS itself, so it does not route by the name in the TLS handshake",
        "listen on tcp://, or give --protocol http");
  }
  return {};
}

result<void> check_backend(const proxy_options& options, const backend_text& backend) {
  const auto refuse = [&backend](std::string reason, std::string remedy) {
    return failure(errc::invalid_argument, "use backend '" + backend.text + "'", std::move(reason),
                   std::move(remedy));
  };
  const bool has_path = backend.url.is_web() && backend.url.path.size() > 1;
  if (joins_messages(options)) {
    const bool speaks_http =
        backend.speaks_http2 || (backend.url.is_web() && !is_websocket(backend.url));
    if (speaks_http)
      return refuse("this proxy forwards messages, but the backend takes HTTP",
                    "use ws:// or tcp://");
    if (backend.proxy_version != 0 && !backend.url.is_stream()) {
      return refuse("a PROXY header needs a stream, which this backend does not have",
                    "leave it out");
    }
    if (options.check != "off" && !backend.url.is_stream()) {
      return refuse("--check " + options.check + " asks streams", "leave --check out");
    }
    return {};
  }
  if (!backend.url.is_stream()) {
    return refuse("this proxy forwards streams, but the backend is not a stream",
                  "create a proxy for each of them");
  }
  if (has_path)
    return refuse("the path comes from the request; leave it out", "write " + backend.url.host);
  for (const auto& front : options.endpoints()) {
    if ((!backend.url.is_web() && !backend.speaks_http2) || has_web(options, front)) continue;
    return failure(errc::invalid_argument, "pass '" + front + "' on to '" + backend.text + "'",
                   "the endpoint forwards connections as they are, but the backend takes HTTP",
                   "give --protocol http, or a tcp:// or tls:// backend without http2");
  }
  return {};
}

}  // namespace strata::runtime::proxy
