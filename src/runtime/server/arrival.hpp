// A new connection: detects its protocol, and passes it to the code that serves the protocol.
#pragma once

#include <memory>

#include "net/stream.hpp"
#include "serve/connection_gauge.hpp"

namespace strata::runtime::server {

class shard;

/// The protocol of the connections of a listener.
enum class protocol : std::uint8_t { automatic, raw, http };

/// Serves the connection, or starts the task that does. A client that is silent for long enough, or
/// sends something other than HTTP, becomes a raw member, and has missed no message since it
/// connected.
[[nodiscard]] loop::task<> receive_arrival(shard& shard, std::unique_ptr<net::stream> arrived,
                                           serve::connection_gauge::place place, protocol speaks);

}  // namespace strata::runtime::server
