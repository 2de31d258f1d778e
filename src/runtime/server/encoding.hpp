// How a member's wire carries messages.
#pragma once

#include <cstddef>
#include <cstdint>
#include <string>

#include "loop/slice.hpp"
#include "proto/framing.hpp"
#include "runtime/server/message.hpp"

namespace strata::runtime::server {

/// The first three are proto::framing's.
enum class encoding : std::uint8_t {
  line,
  length,
  raw,
  websocket,           ///< a frame each (RFC 6455)
  websocket_deflated,  ///< the same, compressed where it pays (RFC 7692), each for itself
  event_stream,        ///< an event each (HTML, server-sent events)
};
inline constexpr std::size_t encoding_count = 6;

[[nodiscard]] constexpr encoding encoding_of(proto::framing framing) {
  return static_cast<encoding>(framing);
}
/// A message's own bytes stand in what is sent, between a head and an end: all but the last two.
[[nodiscard]] constexpr bool has_envelope(encoding encoding) {
  return encoding <= encoding::websocket;
}

/// It can be sent as a line: there is no LF within.
[[nodiscard]] inline bool is_line(byte_span bytes) { return !as_text(bytes).contains('\n'); }
/// The same with spaces for LFs, so that one message never looks like two.
[[nodiscard]] std::string as_line(byte_span bytes);

/// What stands around a message; of an encoding that has an envelope.
[[nodiscard]] proto::envelope envelope_of(encoding encoding, const message& message);
/// Appends what is sent of `message` to `text`; of an encoding that has none, or of what is no
/// line.
void encode(encoding encoding, const message& message, std::string& text);

}  // namespace strata::runtime::server
