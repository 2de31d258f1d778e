// Serves HTTP connections of clients, in the version that each client speaks.
#pragma once

#include <functional>
#include <memory>

#include "http/served_connection.hpp"
#include "http/server_connection.hpp"
#include "runtime/options/http_options.hpp"
#include "serve/connection_gauge.hpp"

namespace strata::runtime {

/// `max_unread`: unread bytes of a body that are skipped.
[[nodiscard]] http::server_limits limits_of(const http_limit_options& options,
                                            std::size_t max_unread);
/// A time limit; 0 means none.
[[nodiscard]] loop::duration timeout_of(double seconds);

/// Serves the requests of connections. It outlives them.
struct http_service {
  http::server_limits limits;
  http::handlers handlers;
  /// Called with the connection, which is destroyed when it has been served.
  std::function<void(http::served_connection&)> on_begun;
  /// Called when a client has flooded HTTP/2.
  std::function<void()> on_flooded;
  /// Called when a connection has been served, and is gone; may be null.
  std::function<void()> on_gone;
};

/// The answer to a client above the connection limit.
[[nodiscard]] std::string http_refusal();

/// Serves a connection: its version is known from TLS, or from its first bytes.
[[nodiscard]] loop::task<> serve_http(std::unique_ptr<net::stream> arrived,
                                      const http_service& service);

/// The same in two steps, so that the first one's state is gone while the second one lasts.
[[nodiscard]] loop::task<bool> speaks_http2(net::stream& arrived, loop::duration timeout);
[[nodiscard]] loop::task<> serve_http(bool is_http2, std::unique_ptr<net::stream> arrived,
                                      const http_service& service,
                                      serve::connection_gauge::place place = {});

}  // namespace strata::runtime
