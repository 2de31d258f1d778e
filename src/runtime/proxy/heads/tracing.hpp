// By what a request is known in the logs of all that it comes through: an id of its own, and the
// W3C's trace context (www.w3.org/TR/trace-context).
#pragma once

#include <cstdint>
#include <random>
#include <string>
#include <string_view>

namespace strata::runtime::proxy {

/// An id that a client's side may have given: 1 to 128 characters that can be seen, without blanks.
[[nodiscard]] bool is_request_id(std::string_view text);
/// `00-TRACE-PARENT-FLAGS`, of version 00 or a later one.
[[nodiscard]] bool is_traceparent(std::string_view text);

/// Makes ids that are different, but no secrets. For one loop's thread.
class id_maker {
 public:
  id_maker();
  /// 32 hexadecimal digits.
  [[nodiscard]] std::string request_id();
  /// 16 bytes in base64, as Sec-WebSocket-Key has them.
  [[nodiscard]] std::string websocket_key();
  /// Of a trace that begins here, and is to be recorded.
  [[nodiscard]] std::string traceparent();

 private:
  [[nodiscard]] std::uint64_t next();

  std::mt19937_64 draw_;
};

}  // namespace strata::runtime::proxy
