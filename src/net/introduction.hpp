// The PROXY protocol's header at the start of a connection, which describes the real client.
#pragma once

#include "net/stream.hpp"

namespace strata::net {

/// Waits for the PROXY header at the start of a connection, until `limit` at most. From then on the
/// stream's peer is the client that the header names, and the bytes after the header are received
/// next. Errors: malformed, limit_exceeded, timed_out, connection_closed, or those of the
/// connection.
[[nodiscard]] loop::task<result<void>> await_introduction(stream& stream, loop::time_point limit);

/// The header for a connection made on behalf of that client. `version`: 1 or 2. If `peer` is null
/// or has no IP address, the header says that the proxy speaks for itself.
[[nodiscard]] std::string introduction(int version, const peer_info* peer);

}  // namespace strata::net
