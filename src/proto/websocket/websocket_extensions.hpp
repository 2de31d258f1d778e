// The header Sec-WebSocket-Extensions (RFC 6455 section 9.1), and its negotiation of
// permessage-deflate (RFC 7692), the one extension that strata knows.
//
// A client offers, a server accepts one offer or none, and the client checks that the answer fits
// its offer. Values in, values out. Several fields of that name are one, joined with commas.
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "proto/deflate.hpp"
#include "proto/websocket/websocket_frame.hpp"
#include "strata/base/result.hpp"

namespace strata::proto {

struct websocket_extension {
  struct parameter {
    std::string name;
    std::optional<std::string> value;  ///< without its quotes

    friend bool operator==(const parameter&, const parameter&) = default;
  };

  std::string name;
  std::vector<parameter> parameters;

  friend bool operator==(const websocket_extension&, const websocket_extension&) = default;
};

/// Parses the header; none for an empty header. Errors: malformed; by section 9.1 the connection
/// must then fail.
[[nodiscard]] result<std::vector<websocket_extension>> read_websocket_extensions(
    std::string_view header);

/// The agreement of both sides. Each side's window is that of its own messages.
struct websocket_deflate {
  bool server_no_context_takeover = false;
  bool client_no_context_takeover = false;
  std::uint8_t server_max_window_bits = max_window_bits;
  std::uint8_t client_max_window_bits = max_window_bits;

  [[nodiscard]] int window_bits_of(websocket_role side) const {
    return side == websocket_role::server ? server_max_window_bits : client_max_window_bits;
  }
  /// Reports whether each message of that side is compressed independently of earlier ones.
  [[nodiscard]] bool forgets(websocket_role side) const {
    return side == websocket_role::server ? server_no_context_takeover : client_no_context_takeover;
  }
  /// Reports whether zlib can compress that side's messages. If not, they are sent uncompressed,
  /// which RFC 7692 section 6 leaves to the sender. This can only happen to a client: see
  /// accept_deflate.
  [[nodiscard]] bool can_compress(websocket_role side) const {
    return window_bits_of(side) >= min_deflater_bits;
  }

  friend bool operator==(const websocket_deflate&, const websocket_deflate&) = default;
};

struct websocket_deflate_answer {
  websocket_deflate agreed;
  std::string header;  ///< for the server's response
};

/// The server's side: accepts the first acceptable offer, adding the demands of `deflate` as far as
/// the RFC lets a server make them; nullopt if there is none. Errors: malformed.
///
/// An offer of `server_max_window_bits=8` is declined: a server may only answer with the offered
/// value or a smaller one, 8 is the least, and zlib's compressor has no such window. An offer of
/// `client_max_window_bits=8` is acceptable, since zlib's inflate has it.
[[nodiscard]] result<std::optional<websocket_deflate_answer>> accept_deflate(
    std::string_view header, const websocket_deflate& deflate = {});

/// The client's side: returns the header of its request. Its own window is always offered for the
/// server to limit.
[[nodiscard]] std::string deflate_offer(const websocket_deflate& deflate = {});

/// The client's side: returns the agreement in the server's answer to `deflate_offer(offered)`;
/// nullopt if the answer is empty. Errors: malformed if it does not fit the offer; the client must
/// then fail the connection (with 1010, if it has to name a code).
[[nodiscard]] result<std::optional<websocket_deflate>> agree_on_deflate(
    std::string_view header, const websocket_deflate& offered = {});

}  // namespace strata::proto
