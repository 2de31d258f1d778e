// The HTTP side of a server: WebSockets and event streams become members, a posted body is a
// message, and files are served.
#pragma once

#include <memory>

#include "http/exchange.hpp"
#include "http/websocket_opening.hpp"
#include "net/stream.hpp"
#include "serve/connection_gauge.hpp"

namespace strata::runtime::server {

class shard;

/// Serves one HTTP connection until it ends or becomes a WebSocket.
[[nodiscard]] loop::task<> serve_web(shard& shard, std::unique_ptr<net::stream> arrived,
                                     serve::connection_gauge::place place);

}  // namespace strata::runtime::server
