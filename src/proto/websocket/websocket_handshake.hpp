// The opening handshake of WebSocket (RFC 6455 section 4; by HTTP/2, RFC 8441), as values: what a
// request or a response of HTTP must have, and what is answered. Its extensions are in
// websocket_extensions.hpp.
//
// SHA-1 is the caller's: `websocket_accept_text` is what to hash, `websocket_accept` the answer.
#pragma once

#include <array>
#include <cstddef>
#include <expected>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "proto/http/http1.hpp"
#include "strata/base/bytes.hpp"
#include "strata/base/result.hpp"

namespace strata::proto {

inline constexpr std::string_view websocket_version = "13";

/// Whether the request asks for a WebSocket at all; if not, it is for another handler.
[[nodiscard]] bool is_websocket_request(const http_request& request);

struct websocket_request {
  std::string key;                     ///< as sent; empty by HTTP/2, where there is none
  std::vector<std::string> protocols;  ///< that the client knows, the one it likes best first
  std::string extensions;              ///< for accept_deflate
};

struct websocket_refusal {
  int status = 0;  ///< 400; 405 for another method; 426 for another version
  std::string reason;
  http_fields headers;  ///< what the response must have beside
};

/// The server's side (section 4.2.1; RFC 8441 section 5): what a request for a WebSocket has to
/// say, or the refusal.
[[nodiscard]] std::expected<websocket_request, websocket_refusal> read_websocket_request(
    const http_request& request);

/// Base64 of 16 bytes (section 4.1).
[[nodiscard]] bool is_websocket_key(std::string_view key);

/// What has to be hashed by SHA-1, and what the digest becomes: the value of Sec-WebSocket-Accept.
[[nodiscard]] std::string websocket_accept_text(std::string_view key);
[[nodiscard]] std::string websocket_accept(std::span<const std::byte, 20> digest);

/// The first of the client's protocols that the server knows; names are equal in their case too.
[[nodiscard]] std::optional<std::string_view> choose_websocket_protocol(
    std::span<const std::string> offered, std::span<const std::string> known);

struct websocket_response {
  std::string protocol;    ///< empty for none
  std::string extensions;  ///< for agree_on_deflate
};

/// The client's side (section 4.1): whether the response opens the connection. `accept` is what
/// `websocket_accept` makes of the key that was sent. Errors: malformed; not_supported when the
/// server has answered with another status than 101.
[[nodiscard]] result<websocket_response> read_websocket_response(
    const http_response_head& response, std::string_view accept,
    std::span<const std::string> offered_protocols = {});

}  // namespace strata::proto
