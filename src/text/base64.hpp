// Base64 (RFC 4648 section 4): for binary messages in JSON, and for WebSocket handshakes.
#pragma once

#include <optional>
#include <string>
#include <string_view>

#include "strata/base/bytes.hpp"

namespace strata::text {

[[nodiscard]] std::string base64_encode(byte_span bytes);

/// Returns the bytes, or nullopt if `text` is not canonical base64: a wrong letter, wrong padding,
/// or bits set behind the last byte. No line breaks.
[[nodiscard]] std::optional<std::string> base64_decode(std::string_view text);

}  // namespace strata::text
