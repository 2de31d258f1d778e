// Digests: those that protocols ask for, and those by their names.
#pragma once

#include <array>
#include <cstddef>
#include <optional>
#include <string>
#include <string_view>

#include "strata/base/bytes.hpp"

namespace strata::net {

/// SHA-1, which proves nothing any more: for protocols that want it as a checksum, such as
/// WebSocket's accept key. Source: RFC 3174.
[[nodiscard]] std::array<std::byte, 20> sha1(byte_span bytes);

/// The digest's bytes; nothing where there is none of that name: md5, sha1, sha256, sha512, ….
[[nodiscard]] std::optional<std::string> digest(const std::string& name, byte_span bytes);
/// The same with a key (RFC 2104).
[[nodiscard]] std::optional<std::string> hmac(const std::string& name, byte_span key,
                                              byte_span bytes);
/// Bytes that nobody can guess. Errors end the process: OpenSSL has none left to give.
[[nodiscard]] std::string random_bytes(std::size_t count);

}  // namespace strata::net
