// Reads the server name that a TLS client requests (SNI) from its first bytes, without a handshake:
// RFC 8446 sections 4.1.2 and 5.1, RFC 6066 section 3.
#pragma once

#include <cstddef>
#include <optional>
#include <string>

#include "strata/base/bytes.hpp"
#include "strata/base/result.hpp"

namespace strata::proto {

/// The longest accepted ClientHello; those of browsers have about 2 KiB.
inline constexpr std::size_t longest_client_hello = 32U << 10U;

/// Returns the name in lower case, empty if the client requests none. Returns nullopt if more bytes
/// are needed. `first`: all bytes from the client so far. Errors: malformed if they begin no TLS
/// handshake; limit_exceeded.
[[nodiscard]] result<std::optional<std::string>> read_server_name(byte_span first);

}  // namespace strata::proto
