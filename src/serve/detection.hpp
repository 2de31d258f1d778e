// Detects a client's protocol from its first bytes.
#pragma once

#include <optional>
#include <span>
#include <string_view>

#include "net/stream.hpp"

namespace strata::serve {

enum class verdict : std::uint8_t { no, yes, more };

/// A protocol, and how its first bytes look.
struct protocol_row {
  std::string_view name;
  /// `more`: it may still become this protocol. Called with at least one byte.
  verdict (*match)(byte_span first);
};

/// A `protocol_row`'s match: whether a client starts TLS, with a ClientHello.
[[nodiscard]] verdict looks_like_tls(byte_span first);

/// Waits for the first bytes of `stream` until the matching row is certain, and returns the bytes
/// to the stream. The first row that says `yes` wins, once no row before it says `more`. Null when
/// no row matches, or when the client has ended or sends nothing until `limit`.
[[nodiscard]] loop::task<const protocol_row*> detect(net::stream& stream,
                                                     std::span<const protocol_row> rows,
                                                     loop::time_point limit);

}  // namespace strata::serve
