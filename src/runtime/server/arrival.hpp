// A connection that has just come: what it speaks is found out, and it is handed to what serves
// that.
#pragma once

#include <memory>

#include "net/stream.hpp"
#include "serve/connection_gauge.hpp"

namespace strata::runtime::server {

class shard;

/// What is spoken on what a listener accepts.
enum class protocol : std::uint8_t { automatic, raw, http };

/// Serves the connection, or starts what does. One that says nothing for long enough, or nothing
/// that is HTTP, is a raw member, and has missed nothing that was said since it came.
[[nodiscard]] loop::task<> receive_arrival(shard& shard, std::unique_ptr<net::stream> arrived,
                                           serve::connection_gauge::place place, protocol speaks);

}  // namespace strata::runtime::server
