// What stands at the ends of a proxy, and which of it fits together.
//
// Where one end carries messages (datagrams, frames, WebSockets), all do: streams have a framing
// then. Else connections pass as they are, or HTTP requests one by one.
#pragma once

#include <string>
#include <vector>

#include "runtime/proxy/choice/backend.hpp"
#include "runtime/proxy/options.hpp"
#include "runtime/proxy/web/route.hpp"

namespace strata::runtime::proxy {

/// Of `backend`, and of routes.
[[nodiscard]] std::vector<std::string> all_backends(const proxy_options& options);

/// What comes in and goes out are messages.
[[nodiscard]] bool joins_messages(const proxy_options& options);
/// A backend is a WebSocket, by ws:// or wss://.
[[nodiscard]] bool leads_to_websockets(const proxy_options& options);
/// Whether what comes in by that front is HTTP.
[[nodiscard]] bool has_web(const proxy_options& options, const std::string& front);
/// Its routes are for connections, by the name that TLS asks for: no front has HTTP.
[[nodiscard]] bool goes_by_names(const proxy_options& options);
/// Connections to one of them may begin with TLS: only then are its files read.
[[nodiscard]] bool may_be_secure(const std::vector<std::string>& backends);

/// Errors: invalid_argument, naming the end that does not fit, and what does.
[[nodiscard]] result<void> check_fronts(const proxy_options& options);
[[nodiscard]] result<void> check_route(const proxy_options& options, const route_text& route);
[[nodiscard]] result<void> check_backend(const proxy_options& options, const backend_text& backend);

}  // namespace strata::runtime::proxy
