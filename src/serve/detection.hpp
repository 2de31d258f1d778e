// Which protocol a client speaks, told by its first bytes.
#pragma once

#include <optional>
#include <span>
#include <string_view>

#include "net/stream.hpp"

namespace strata::serve {

enum class verdict : std::uint8_t { no, yes, more };

/// What one protocol begins with.
struct protocol_row {
  std::string_view name;
  /// `more`: it may still become this protocol. Called with at least one byte.
  verdict (*match)(byte_span first);
};

/// A `protocol_row`'s match: whether a client begins with TLS, by its ClientHello.
[[nodiscard]] verdict looks_like_tls(byte_span first);

/// Awaits the first bytes of `stream` until it is clear which row they are of, and gives them back
/// to the stream. The first row that says `yes` wins, once no row before it says `more`. nullopt
/// when no row matches, when the client has ended or says nothing until `limit`.
[[nodiscard]] loop::task<const protocol_row*> detect(net::stream& stream,
                                                     std::span<const protocol_row> rows,
                                                     loop::time_point limit);

}  // namespace strata::serve
