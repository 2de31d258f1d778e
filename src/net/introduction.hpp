// What the PROXY protocol says at the begin of a connection, of the client that it is for.
#pragma once

#include "net/stream.hpp"

namespace strata::net {

/// Awaits the PROXY header that a connection begins with, until `limit` at the longest. From then
/// on its peer is the client that the header tells of, and what follows is next to be received.
/// Errors: malformed, limit_exceeded, timed_out, connection_closed, or of the connection.
[[nodiscard]] loop::task<result<void>> await_introduction(stream& stream, loop::time_point limit);

/// The header for a connection made for that client. `version`: 1 or 2. Null, or a client without
/// an IP address: the proxy speaks for itself.
[[nodiscard]] std::string introduction(int version, const peer_info* peer);

}  // namespace strata::net
