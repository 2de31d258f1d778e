// A WebSocket as a message port: the client's side (RFC 6455 section 4.1), and the server's.
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
  proto::http_fields fields;           ///< of the request, beside its own
  std::vector<std::string> protocols;  ///< to choose from, the one liked best first
  bool is_deflated = true;             ///< if the server agrees
  std::size_t max_message = 1U << 20U;
  /// After this silence a server is pinged, and after as much again given up; zero: never.
  loop::duration ping = loop::duration::zero();
};

/// Such a field the request has anyway, or may not have. `name` in any case.
[[nodiscard]] bool is_of_the_opening(std::string_view name);

/// Errors: invalid_argument, for a field that the request has anyway, and for protocols that are
/// not different tokens.
[[nodiscard]] result<void> check_wishes(const websocket_wishes& wishes);

/// Opens a WebSocket at `url` on a stream that is connected to its host, until `limit`. A message
/// is sent as text if it is UTF-8, and else as binary. Errors: of the connection; not_supported
/// when the server answers anything else; timed_out. The wishes have been checked.
[[nodiscard]] loop::task<result<std::unique_ptr<net::message_port>>> connect_websocket(
    loop::loop& loop, std::unique_ptr<net::stream> stream, net::endpoint_url url,
    websocket_wishes wishes, loop::time_point limit);

struct websocket_welcome {
  websocket_settings settings;
  std::string target;  ///< the only one that is a WebSocket; empty: all are
  std::size_t max_message = 1U << 20U;
  loop::duration ping = loop::duration::zero();  ///< as in `websocket_wishes`
  /// Awaited before the WebSocket is opened; may be empty. It chooses the subprotocol, one of the
  /// client's or none. Where it fails, the client is answered 503.
  std::function<loop::task<result<std::string>>(const proto::http_request&)> before = {};
};

/// Awaits, until `limit`, that the client on a stream opens a WebSocket; what else it asks for is
/// refused. Messages are sent as by `connect_websocket`. Errors: connection_closed when it has gone
/// before; timed_out.
[[nodiscard]] loop::task<result<std::unique_ptr<net::message_port>>> accept_websocket(
    loop::loop& loop, std::unique_ptr<net::stream> stream, websocket_welcome welcome,
    loop::time_point limit);

}  // namespace strata::http
