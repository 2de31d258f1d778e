// The header Sec-WebSocket-Extensions (RFC 6455 section 9.1), and what is agreed by it on
// permessage-deflate (RFC 7692), the one extension that strata knows.
//
// A client offers, a server takes one offer or none, the client looks whether the answer fits what
// it offered. Values in, values out. Several fields of that name are one, joined with commas.
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

/// Errors: malformed; by section 9.1 the connection must fail then. None for an empty header.
[[nodiscard]] result<std::vector<websocket_extension>> read_websocket_extensions(
    std::string_view header);

/// What both sides have agreed on. Either side's window is that of its own messages.
struct websocket_deflate {
  bool server_no_context_takeover = false;
  bool client_no_context_takeover = false;
  std::uint8_t server_max_window_bits = max_window_bits;
  std::uint8_t client_max_window_bits = max_window_bits;

  [[nodiscard]] int window_bits_of(websocket_role side) const {
    return side == websocket_role::server ? server_max_window_bits : client_max_window_bits;
  }
  /// Each message of that side is compressed without those before it.
  [[nodiscard]] bool forgets(websocket_role side) const {
    return side == websocket_role::server ? server_no_context_takeover : client_no_context_takeover;
  }
  /// Whether zlib can compress that side's messages. If not they are sent as they are, which RFC
  /// 7692 section 6 leaves to the sender. Only a client can come to it: see accept_deflate.
  [[nodiscard]] bool can_compress(websocket_role side) const {
    return window_bits_of(side) >= min_deflater_bits;
  }

  friend bool operator==(const websocket_deflate&, const websocket_deflate&) = default;
};

struct websocket_deflate_answer {
  websocket_deflate agreed;
  std::string header;  ///< for the server's response
};

/// The server's side: the first of the offers that can be met, with what `deflate` asks for beyond
/// it as far as the RFC lets a server ask; nullopt when there is none. Errors: malformed.
///
/// An offer of `server_max_window_bits=8` is declined: a server may only answer with the offered
/// value or a smaller one, 8 is the least, and zlib's compressor has no such window. One of
/// `client_max_window_bits=8` can be met, since zlib's inflate has it.
[[nodiscard]] result<std::optional<websocket_deflate_answer>> accept_deflate(
    std::string_view header, const websocket_deflate& deflate = {});

/// The client's side: the header of its request. Its own window is always offered for the server
/// to limit.
[[nodiscard]] std::string deflate_offer(const websocket_deflate& deflate = {});

/// The client's side: what the server's answer to `deflate_offer(offered)` agrees on; nullopt when
/// the answer is empty. Errors: malformed when it does not fit the offer; the client must fail the
/// connection then (with 1010, if it has to name a code).
[[nodiscard]] result<std::optional<websocket_deflate>> agree_on_deflate(
    std::string_view header, const websocket_deflate& offered = {});

}  // namespace strata::proto
