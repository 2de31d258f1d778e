// The ids of a request in the logs of all systems that it passes: an id of its own, and the W3C's
// trace context (www.w3.org/TR/trace-context).
#pragma once

#include <cstdint>
#include <random>
#include <string>
#include <string_view>

namespace strata::runtime::proxy {

/// Whether a client's id is acceptable: 1 to 128 visible characters, without blanks.
[[nodiscard]] bool is_request_id(std::string_view text);
/// Whether the text is `00-TRACE-PARENT-FLAGS`, of version 00 or a later one.
[[nodiscard]] bool is_traceparent(std::string_view text);

/// Makes ids that are unique, but not secret. For one loop's thread.
class id_maker {
 public:
  id_maker();
  /// 32 hexadecimal digits.
  [[nodiscard]] std::string request_id();
  /// 16 bytes in base64, for Sec-WebSocket-Key.
  [[nodiscard]] std::string websocket_key();
  /// For a trace that begins here, and is to be recorded.
  [[nodiscard]] std::string traceparent();

 private:
  [[nodiscard]] std::uint64_t next();

  std::mt19937_64 draw_;
};

}  // namespace strata::runtime::proxy
