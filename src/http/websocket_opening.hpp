// Opens a WebSocket on an exchange (RFC 6455 section 4.2, and RFC 8441): the server's side.
#pragma once

#include <functional>
#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "http/exchange.hpp"
#include "proto/websocket/websocket_extensions.hpp"

namespace strata::http {

struct websocket_settings {
  /// Subprotocols that the server speaks.
  std::vector<std::string> protocols;
  /// Origins whose pages may open one, as `https://example.com`; `*`: all. A request that has no
  /// Origin is no browser's; one of the page's own host is always right.
  std::vector<std::string> origins;
  /// Messages are compressed where the client offers it.
  bool is_deflated = true;
  /// A page of another origin was refused; null: nobody wants to know.
  std::function<void(std::string_view reason)> on_refused_origin = nullptr;
};

struct opened_websocket {
  std::unique_ptr<net::byte_channel> channel;
  std::optional<proto::websocket_deflate> deflate;
  std::string protocol;  ///< empty: none
};

/// Whether the request asks for one at all.
[[nodiscard]] bool asks_for_websocket(const exchange& exchange);

/// Answers such a request: that it is open, or why not, and then nullopt. The channel's life is as
/// `exchange::upgrade` says.
[[nodiscard]] std::optional<opened_websocket> open_websocket(exchange& exchange,
                                                             const websocket_settings& settings);

/// Whether `origin` may open one at a server that the client knows as `host`.
[[nodiscard]] bool is_admitted_origin(std::string_view origin, std::string_view host,
                                      const std::vector<std::string>& origins);

}  // namespace strata::http
