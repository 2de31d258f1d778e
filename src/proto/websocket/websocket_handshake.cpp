#include "proto/websocket/websocket_handshake.hpp"

#include <algorithm>

#include "proto/token.hpp"
#include "proto/websocket/websocket_extensions.hpp"
#include "text/base64.hpp"
#include "text/word.hpp"

namespace strata::proto {

namespace {

constexpr std::size_t key_bytes = 16;

websocket_refusal bad_request(std::string reason) {
  return {.status = 400, .reason = std::move(reason), .headers = {}};
}

/// Reads the client's protocols: tokens, all different (section 4.1, point 10). Returns false if
/// they are not.
bool read_protocols(const http_fields& fields, std::vector<std::string>& protocols) {
  const auto names = field_elements(fields, "sec-websocket-protocol");
  protocols.assign(names.begin(), names.end());
  auto sorted = protocols;
  std::ranges::sort(sorted);
  return std::ranges::all_of(protocols, is_token) &&
         std::ranges::adjacent_find(sorted) == sorted.end();
}

/// Checks for a body, whose bytes would be read as frames.
bool has_body(const http_fields& fields) {
  return find_field(fields, "content-length").value_or("0").find_first_not_of('0') !=
             std::string_view::npos ||
         find_field(fields, "transfer-encoding").has_value();
}

/// Returns the fault of an HTTP/1.1 request, apart from WebSocket's own fields.
std::optional<websocket_refusal> find_fault(const http_request& request) {
  if (request.method != "GET") {
    return websocket_refusal{
        .status = 405, .reason = "a WebSocket is opened by GET", .headers = {{"Allow", "GET"}}};
  }
  if (request.version < 11) return bad_request("a WebSocket needs HTTP/1.1");
  if (count_of_field(request.headers, "host") != 1) return bad_request("one Host field is needed");
  if (!is_websocket_request(request)) {
    return bad_request("Upgrade is not websocket, or Connection is not Upgrade");
  }
  if (has_body(request.headers)) return bad_request("a WebSocket request must not have a body");
  return std::nullopt;
}

/// RFC 6455 section 4.4. HTTP/2 has no Upgrade field, which 426 requires.
websocket_refusal other_version(bool has_upgrade) {
  websocket_refusal made{.status = has_upgrade ? 426 : 400,
                         .reason = "the WebSocket version is not 13",
                         .headers = {{"Sec-WebSocket-Version", std::string(websocket_version)}}};
  if (has_upgrade) made.headers.emplace_back("Upgrade", "websocket");
  return made;
}

std::unexpected<error> bad_response(std::string reason) {
  return failure(errc::malformed, "open a WebSocket", std::move(reason));
}

}  // namespace

bool is_websocket_request(const http_request& request) {
  if (!request.protocol.empty()) return text::same_text(request.protocol, "websocket");
  return has_token(request.headers, "upgrade", "websocket") &&
         has_token(request.headers, "connection", "upgrade");
}

std::expected<websocket_request, websocket_refusal> read_websocket_request(
    const http_request& request) {
  const bool has_key = request.protocol.empty();  // RFC 8441 section 5: HTTP/2 has none
  if (has_key) {
    if (auto why = find_fault(request)) return std::unexpected(std::move(*why));
  }
  const auto& fields = request.headers;
  const auto version = find_field(fields, "sec-websocket-version");
  if (count_of_field(fields, "sec-websocket-version") != 1 || version != websocket_version) {
    return std::unexpected(other_version(has_key));
  }
  websocket_request made{
      .key = {},
      .protocols = {},
      .extensions = joined_field(fields, "sec-websocket-extensions").value_or("")};
  if (has_key) {
    const auto key = find_field(fields, "sec-websocket-key");
    if (count_of_field(fields, "sec-websocket-key") != 1 || !is_websocket_key(*key)) {
      return std::unexpected(bad_request("Sec-WebSocket-Key is not 16 bytes in base64"));
    }
    made.key = *key;
  }
  if (!read_protocols(fields, made.protocols)) {
    return std::unexpected(bad_request("Sec-WebSocket-Protocol is not a list of distinct tokens"));
  }
  // Section 9.1, whether or not an extension is known.
  if (const auto read = read_websocket_extensions(made.extensions); !read) {
    return std::unexpected(bad_request(describe(read.error())));
  }
  return made;
}

bool is_websocket_key(std::string_view key) {
  const auto bytes = text::base64_decode(key);
  return bytes && bytes->size() == key_bytes;
}

std::string websocket_accept_text(std::string_view key) {
  return std::string(key) + "258EAFA5-E914-47DA-95CA-C5AB0DC85B11";
}

std::string websocket_accept(std::span<const std::byte, 20> digest) {
  return text::base64_encode(digest);
}

std::optional<std::string_view> choose_websocket_protocol(std::span<const std::string> offered,
                                                          std::span<const std::string> known) {
  const auto found = std::ranges::find_first_of(offered, known);
  if (found == offered.end()) return std::nullopt;
  return *found;
}

result<websocket_response> read_websocket_response(const http_response_head& response,
                                                   std::string_view accept,
                                                   std::span<const std::string> offered_protocols) {
  if (response.status != 101) {
    return failure(errc::not_supported, "open a WebSocket",
                   "the server answered with status " + std::to_string(response.status));
  }
  const auto& fields = response.headers;
  const auto upgrade = find_field(fields, "upgrade");
  if (count_of_field(fields, "upgrade") != 1 || !text::same_text(*upgrade, "websocket")) {
    return bad_response("the server's Upgrade is not websocket");
  }
  if (!has_token(fields, "connection", "upgrade")) {
    return bad_response("the server's Connection is not Upgrade");
  }
  const auto answer = find_field(fields, "sec-websocket-accept");
  if (count_of_field(fields, "sec-websocket-accept") != 1 || text::trimmed(*answer) != accept) {
    return bad_response("the server's Sec-WebSocket-Accept does not match the key");
  }
  websocket_response made{
      .protocol = std::string(find_field(fields, "sec-websocket-protocol").value_or("")),
      .extensions = joined_field(fields, "sec-websocket-extensions").value_or("")};
  const auto chosen = count_of_field(fields, "sec-websocket-protocol");
  if (chosen > 1 || (chosen == 1 && std::ranges::find(offered_protocols, made.protocol) ==
                                        offered_protocols.end())) {
    return bad_response("the server chose a protocol that was not offered");
  }
  return made;
}

}  // namespace strata::proto
