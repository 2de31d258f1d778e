// The parts of a WebSocket frame (RFC 6455 section 5.2), and how one is written.
//
// A frame is a head followed by the payload, which a client masks: use `websocket_head_for` and
// then `apply_mask` on the payload. Values and bytes, no state.
#pragma once

#include <array>
#include <cstddef>
#include <cstdint>
#include <optional>
#include <string>
#include <string_view>

#include "strata/base/bytes.hpp"

namespace strata::proto {

enum class websocket_role : std::uint8_t { server, client };
[[nodiscard]] constexpr websocket_role peer_of(websocket_role side) {
  return side == websocket_role::server ? websocket_role::client : websocket_role::server;
}

enum class websocket_opcode : std::uint8_t {
  continuation = 0,
  text = 1,
  binary = 2,
  close = 8,
  ping = 9,
  pong = 10,
};

/// Close, ping and pong: not fragmented, and at most `max_control_payload` bytes.
[[nodiscard]] constexpr bool is_control(websocket_opcode opcode) {
  return (static_cast<unsigned>(opcode) & 8U) != 0;
}
inline constexpr std::size_t max_control_payload = 125;

/// The reason why a connection ends (RFC 6455 section 7.4.1 and IANA's list).
enum class websocket_close : std::uint16_t {
  normal = 1000,
  going_away = 1001,
  protocol_error = 1002,
  unsupported_data = 1003,
  no_status = 1005,  ///< a close frame without a code; never on the wire
  abnormal = 1006,   ///< the connection ended without a close frame; never on the wire
  invalid_data = 1007,
  policy_violation = 1008,
  message_too_big = 1009,
  mandatory_extension = 1010,
  internal_error = 1011,
  service_restart = 1012,
  try_again_later = 1013,
  bad_gateway = 1014,
  tls_failure = 1015,  ///< never on the wire
};

/// Reports whether a close frame may carry the code: IANA's codes, and 3000 to 4999 for libraries
/// and programs.
[[nodiscard]] bool is_valid_close_code(std::uint16_t code);

/// Returns the code's name: 1002 is "protocol error"; a code without a name is "unknown".
[[nodiscard]] std::string_view name_of(websocket_close code);

using websocket_mask = std::array<std::byte, 4>;

struct websocket_frame {
  websocket_opcode opcode = websocket_opcode::binary;
  bool is_final = true;
  bool is_compressed = false;          ///< RSV1: in a message's first frame (RFC 7692 section 6)
  std::optional<websocket_mask> mask;  ///< a client's; new and unpredictable for each frame
};

struct websocket_head {
  static constexpr std::size_t max_size = 14;

  std::array<std::byte, max_size> bytes{};
  std::size_t size = 0;

  [[nodiscard]] byte_span span() const { return byte_span(bytes).first(size); }
};
[[nodiscard]] websocket_head websocket_head_for(const websocket_frame& frame,
                                                std::uint64_t payload_size);

/// Masks `bytes` into `to`, which has the same size and may be the same memory; masking twice
/// restores the bytes. `offset` is the number of earlier bytes of the payload.
void apply_mask(byte_span bytes, std::byte* to, websocket_mask mask, std::uint64_t offset = 0);
void apply_mask(mutable_byte_span bytes, websocket_mask mask, std::uint64_t offset = 0);

/// Returns a close frame's payload. The reason is UTF-8, and is truncated if it is too long. Empty
/// for `no_status`; another code that may not be sent is a bug.
[[nodiscard]] std::string websocket_close_payload(websocket_close code,
                                                  std::string_view reason = {});

}  // namespace strata::proto
