// The server's name that a TLS client asks for (SNI), read from its first bytes without agreeing on
// anything: RFC 8446 sections 4.1.2 and 5.1, RFC 6066 section 3.
#pragma once

#include <cstddef>
#include <optional>
#include <string>

#include "strata/base/bytes.hpp"
#include "strata/base/result.hpp"

namespace strata::proto {

/// A ClientHello may be as long as this; those of browsers have about 2 KiB.
inline constexpr std::size_t longest_client_hello = 32U << 10U;

/// The name in small letters, empty where none is asked for. Nullopt: more bytes are needed.
/// `first`: all that the client has said. Errors: malformed, of what begins no TLS;
/// limit_exceeded.
[[nodiscard]] result<std::optional<std::string>> read_server_name(byte_span first);

}  // namespace strata::proto
