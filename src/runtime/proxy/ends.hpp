// The ends of a proxy, and which of them fit together.
//
// If one end carries messages (datagrams, frames, WebSockets), all do: streams then have a framing.
// Otherwise connections are passed on unchanged, or HTTP requests one by one.
#pragma once

#include <string>
#include <vector>

#include "runtime/proxy/choice/backend.hpp"
#include "runtime/proxy/options.hpp"
#include "runtime/proxy/web/route.hpp"

namespace strata::runtime::proxy {

/// The backends of `backend` and of routes.
[[nodiscard]] std::vector<std::string> all_backends(const proxy_options& options);

/// Whether it passes messages.
[[nodiscard]] bool joins_messages(const proxy_options& options);
/// Whether a backend is a WebSocket (ws:// or wss://).
[[nodiscard]] bool leads_to_websockets(const proxy_options& options);
/// Whether that front receives HTTP.
[[nodiscard]] bool has_web(const proxy_options& options, const std::string& front);
/// Whether its routes apply to connections, by the TLS server name: no front has HTTP.
[[nodiscard]] bool goes_by_names(const proxy_options& options);
/// Whether connections to one of them may start with TLS: only then are its files read.
[[nodiscard]] bool may_be_secure(const std::vector<std::string>& backends);

/// Checks that fronts and backends fit. Errors: invalid_argument, naming the end that does not fit,
/// and what does.
[[nodiscard]] result<void> check_fronts(const proxy_options& options);
[[nodiscard]] result<void> check_route(const proxy_options& options, const route_text& route);
[[nodiscard]] result<void> check_backend(const proxy_options& options, const backend_text& backend);

}  // namespace strata::runtime::proxy
