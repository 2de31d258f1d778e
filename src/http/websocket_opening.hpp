// Opens a WebSocket on an exchange, on the server's side (RFC 6455 section 4.2, RFC 8441).
#pragma once

#include <expected>
#include <functional>
#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "http/exchange.hpp"
#include "proto/websocket/websocket_extensions.hpp"
#include "proto/websocket/websocket_handshake.hpp"

namespace strata::http {

struct websocket_settings {
  /// Subprotocols that the server speaks.
  std::vector<std::string> protocols;
  /// Origins whose pages may open one, as `https://example.com`; `*` allows all. Requests without
  /// an Origin, which are no browser's, and with the host's own origin are always allowed.
  std::vector<std::string> origins;
  /// Compresses messages if the client offers it.
  bool is_deflated = true;
  /// Called when a page of another origin was refused; may be null.
  std::function<void(std::string_view reason)> on_refused_origin = nullptr;
};

struct opened_websocket {
  std::unique_ptr<net::byte_channel> channel;
  std::optional<proto::websocket_deflate> deflate;
  std::string protocol;  ///< empty: none
};

/// Whether the request asks for a WebSocket.
[[nodiscard]] bool asks_for_websocket(const exchange& exchange);

using checked_opening = std::expected<proto::websocket_request, proto::websocket_refusal>;

/// What such a request asks for, or why it is refused. A caller that does something before the
/// WebSocket is open asks this first.
[[nodiscard]] checked_opening check_opening(const exchange& exchange,
                                            const websocket_settings& settings);

/// Answers such a request: opens the WebSocket, or refuses it and returns nullopt. The channel
/// lives as `exchange::upgrade` says.
[[nodiscard]] std::optional<opened_websocket> open_websocket(exchange& exchange,
                                                             const websocket_settings& settings);

/// Whether `origin` may open a WebSocket at a server that the client knows as `host`.
[[nodiscard]] bool is_admitted_origin(std::string_view origin, std::string_view host,
                                      const std::vector<std::string>& origins);

}  // namespace strata::http
