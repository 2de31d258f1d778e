// Detects a client's protocol from its first bytes.
#pragma once

#include <memory>
#include <optional>
#include <span>
#include <string>
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

/// Finds the row that matches the first bytes of a stream: the first one that says `yes`, once no
/// row before it says `more`.
class detector {
 public:
  explicit detector(std::span<const protocol_row> rows) : rows_(rows) {}

  /// Takes what has arrived on `stream`. Returns whether that decides, as the client's end does.
  [[nodiscard]] bool take(net::stream& stream);
  /// Returns the bytes to the stream. Returns the row; null if none matches, or none is certain.
  [[nodiscard]] const protocol_row* finish(net::stream& stream);

 private:
  std::span<const protocol_row> rows_;
  std::unique_ptr<std::string> seen_;  // null if the first bytes decide, as they usually do
  const protocol_row* row_ = nullptr;
};

/// Detects the protocol of `stream`. Null when no row matches, or when the client has ended or
/// sends nothing until `limit`.
[[nodiscard]] loop::task<const protocol_row*> detect(net::stream& stream,
                                                     std::span<const protocol_row> rows,
                                                     loop::time_point limit);

}  // namespace strata::serve
