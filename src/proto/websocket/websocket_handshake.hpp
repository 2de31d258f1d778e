// The opening handshake of WebSocket (RFC 6455 section 4; in HTTP/2, RFC 8441), as values: checks
// of an HTTP request or response, and the answers. Its extensions are in websocket_extensions.hpp.
//
// The caller computes SHA-1: `websocket_accept_text` is the text to hash, `websocket_accept` the
// answer.
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

/// Reports whether the request is for a WebSocket at all; if not, it is for another handler.
[[nodiscard]] bool is_websocket_request(const http_request& request);

struct websocket_request {
  std::string key;                     ///< as sent; empty in HTTP/2, which has none
  std::vector<std::string> protocols;  ///< known to the client, in order of preference
  std::string extensions;              ///< for accept_deflate
};

struct websocket_refusal {
  int status = 0;  ///< 400; 405 for another method; 426 for another version
  std::string reason;
  http_fields headers;  ///< additional fields for the response
};

/// The server's side (section 4.2.1; RFC 8441 section 5): returns the contents of a request for a
/// WebSocket, or the refusal.
[[nodiscard]] std::expected<websocket_request, websocket_refusal> read_websocket_request(
    const http_request& request);

/// Reports whether `key` is base64 of 16 bytes (section 4.1).
[[nodiscard]] bool is_websocket_key(std::string_view key);

/// Returns the text to hash by SHA-1, and converts the digest to the value of Sec-WebSocket-Accept.
[[nodiscard]] std::string websocket_accept_text(std::string_view key);
[[nodiscard]] std::string websocket_accept(std::span<const std::byte, 20> digest);

/// Returns the first of the client's protocols that the server knows; names are case-sensitive.
[[nodiscard]] std::optional<std::string_view> choose_websocket_protocol(
    std::span<const std::string> offered, std::span<const std::string> known);

struct websocket_response {
  std::string protocol;    ///< empty if none
  std::string extensions;  ///< for agree_on_deflate
};

/// The client's side (section 4.1): checks whether the response opens the connection. `accept` is
/// `websocket_accept` of the sent key. Errors: malformed; not_supported if the server has answered
/// with a status other than 101.
[[nodiscard]] result<websocket_response> read_websocket_response(
    const http_response_head& response, std::string_view accept,
    std::span<const std::string> offered_protocols = {});

}  // namespace strata::proto
