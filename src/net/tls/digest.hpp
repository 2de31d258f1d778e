// Digests: those that protocols require, and those selected by name.
#pragma once

#include <array>
#include <cstddef>
#include <optional>
#include <string>
#include <string_view>

#include "strata/base/bytes.hpp"

namespace strata::net {

/// SHA-1, which is no longer secure: for protocols that use it as a checksum, such as WebSocket's
/// accept key. Source: RFC 3174.
[[nodiscard]] std::array<std::byte, 20> sha1(byte_span bytes);

/// The digest's bytes; nullopt if the name is unknown: md5, sha1, sha256, sha512, ….
[[nodiscard]] std::optional<std::string> digest(const std::string& name, byte_span bytes);
/// The keyed digest, HMAC (RFC 2104).
[[nodiscard]] std::optional<std::string> hmac(const std::string& name, byte_span key,
                                              byte_span bytes);
/// Returns unpredictable bytes. An error ends the process: OpenSSL has no randomness left.
[[nodiscard]] std::string random_bytes(std::size_t count);

}  // namespace strata::net
