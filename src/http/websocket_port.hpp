// A WebSocket as a message port, on the client's side (RFC 6455 section 4.1) and the server's.
#pragma once

#include <memory>
#include <string>
#include <vector>

#include "http/websocket_opening.hpp"
#include "net/endpoint_url.hpp"
#include "net/message_port.hpp"
#include "net/stream.hpp"
#include "proto/http/http1.hpp"

namespace strata::http {

struct websocket_wishes {
  proto::http_fields fields;           ///< additional request fields
  std::vector<std::string> protocols;  ///< to choose from, in order of preference
  bool is_deflated = true;             ///< if the server agrees
  std::size_t max_message = 1U << 20U;
  /// A server is pinged after this silence, and given up after the same time again; zero: never.
  loop::duration ping = loop::duration::zero();
};

/// Whether the opening request sets or forbids a field of that name, in any case.
[[nodiscard]] bool is_of_the_opening(std::string_view name);

/// Checks the wishes. Errors: invalid_argument for a field that the request sets itself, and for
/// protocols that are not distinct tokens.
[[nodiscard]] result<void> check_wishes(const websocket_wishes& wishes);

/// Opens a WebSocket at `url` on a stream that is connected to its host, until `limit`. A message
/// is sent as text if it is UTF-8, otherwise as binary. The wishes have been checked. Errors: those
/// of the connection; not_supported if the server answers anything else; timed_out.
[[nodiscard]] loop::task<result<std::unique_ptr<net::message_port>>> connect_websocket(
    loop::loop& loop, std::unique_ptr<net::stream> stream, net::endpoint_url url,
    websocket_wishes wishes, loop::time_point limit);

struct websocket_welcome {
  websocket_settings settings;
  std::string target;  ///< the only target that is a WebSocket; empty: all are
  std::size_t max_message = 1U << 20U;
  loop::duration ping = loop::duration::zero();  ///< as in `websocket_wishes`
  /// Waited for before the WebSocket is opened; may be null. It chooses the subprotocol, one of the
  /// client's or none. If it fails, the client gets 503.
  std::function<loop::task<result<std::string>>(const proto::http_request&)> before = {};
  bool is_binary = false;  ///< messages are always sent as binary
};

/// Opens a WebSocket on an exchange that asks for one. Returns null if it was refused, which
/// answers the exchange. `before` is not called.
[[nodiscard]] std::unique_ptr<net::message_port> open_websocket_port(
    loop::loop& loop, exchange& exchange, const websocket_welcome& welcome);

/// Waits, until `limit`, until the client on a stream opens a WebSocket; its other requests are
/// refused. Messages are sent as by `connect_websocket`. Errors: connection_closed if the client
/// has gone before; timed_out.
[[nodiscard]] loop::task<result<std::unique_ptr<net::message_port>>> accept_websocket(
    loop::loop& loop, std::unique_ptr<net::stream> stream, websocket_welcome welcome,
    loop::time_point limit);

}  // namespace strata::http
