// Digests that protocols ask for.
#pragma once

#include <array>
#include <cstddef>

#include "strata/base/bytes.hpp"

namespace strata::net {

/// SHA-1, which proves nothing any more: for protocols that want it as a checksum, such as
/// WebSocket's accept key. Source: RFC 3174.
[[nodiscard]] std::array<std::byte, 20> sha1(byte_span bytes);

}  // namespace strata::net
