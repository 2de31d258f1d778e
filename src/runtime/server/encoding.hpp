// The encodings of messages on members' wires.
#pragma once

#include <cstddef>
#include <cstdint>
#include <string>

#include "loop/slice.hpp"
#include "proto/framing.hpp"
#include "runtime/server/message.hpp"

namespace strata::runtime::server {

/// The first three are those of proto::framing.
enum class encoding : std::uint8_t {
  line,
  length,
  raw,
  websocket,           ///< one frame each (RFC 6455)
  websocket_deflated,  ///< the same, compressed if it pays (RFC 7692), each on its own
  event_stream,        ///< one event each (HTML, server-sent events)
};
inline constexpr std::size_t encoding_count = 6;

[[nodiscard]] constexpr encoding encoding_of(proto::framing framing) {
  return static_cast<encoding>(framing);
}
/// Whether a message's own bytes are sent unchanged between a head and an end: true except for the
/// last two.
[[nodiscard]] constexpr bool has_envelope(encoding encoding) {
  return encoding <= encoding::websocket;
}

/// Whether it can be sent as a line: it contains no LF.
[[nodiscard]] inline bool is_line(byte_span bytes) { return !as_text(bytes).contains('\n'); }
/// The message with spaces for LFs, so that one message never looks like two.
[[nodiscard]] std::string as_line(byte_span bytes);

/// The head and end around a message; for an encoding with an envelope.
[[nodiscard]] proto::envelope envelope_of(encoding encoding, const message& message);
/// Appends the encoded `message` to `text`; for an encoding without an envelope, or a message that
/// is no line.
void encode(encoding encoding, const message& message, std::string& text);

}  // namespace strata::runtime::server
