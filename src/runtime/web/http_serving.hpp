// Connections of clients that speak HTTP, served in whichever version they speak.
#pragma once

#include <functional>
#include <memory>

#include "http/served_connection.hpp"
#include "http/server_connection.hpp"
#include "runtime/options/http_options.hpp"
#include "serve/connection_gauge.hpp"

namespace strata::runtime {

/// `max_unread`: bytes of a body that no handler reads, which are passed over.
[[nodiscard]] http::server_limits limits_of(const http_limit_options& options,
                                            std::size_t max_unread);
/// A time limit of which 0 is none.
[[nodiscard]] loop::duration patience_of(double seconds);

/// What serves the requests of connections. It outlives them.
struct http_service {
  http::server_limits limits;
  http::handler answer;
  /// The connection, which goes when it has been served.
  std::function<void(http::served_connection&)> on_begun;
  /// The client has flooded HTTP/2.
  std::function<void()> on_flooded;
  /// A connection has been served, and is gone. Null: nobody wants to know.
  std::function<void()> on_gone;
};

/// What a client above the limit of connections is answered.
[[nodiscard]] std::string http_refusal();

/// Serves a connection: TLS has said which version it speaks, or its first bytes do. `refuse` says
/// what is answered to what is no request; it outlives the connection too.
[[nodiscard]] loop::task<> serve_http(loop::loop& loop, std::unique_ptr<net::stream> arrived,
                                      const http_service& service, const http::refusal& refuse);

/// The same in two steps, of which the first leaves nothing behind while the second one lasts.
[[nodiscard]] loop::task<bool> speaks_http2(loop::loop& loop, net::stream& arrived,
                                            loop::duration patience);
[[nodiscard]] loop::task<> serve_http(bool is_http2, loop::loop& loop,
                                      std::unique_ptr<net::stream> arrived,
                                      const http_service& service, const http::refusal& refuse,
                                      serve::connection_gauge::place place = {});

}  // namespace strata::runtime
