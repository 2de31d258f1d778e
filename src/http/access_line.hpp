// A line of an access log: one request and its answer.
#pragma once

#include <cstdint>
#include <string>
#include <string_view>

#include "http/exchange.hpp"

namespace strata::http {

struct access {
  const proto::http_request& request;  ///< no method if it could not be parsed
  std::string_view client;             ///< the client's address, with the port
  std::string_view tls_subject = {};   ///< subject of the client's certificate; empty if none
  std::int64_t time_s = 0;             ///< since 1970
  double seconds = 0;                  ///< duration of the answer
  int status = 0;
  std::uint64_t bytes = 0;           ///< bytes of the answer's body
  std::string_view backend = {};     ///< backend that answered; empty if none
  std::string_view route = {};       ///< route that selected it; empty if none
  std::uint64_t retries = 0;         ///< failed attempts at other backends
  std::string_view request_id = {};  ///< empty if it has none
};

/// A line in the "combined" log format of Apache and nginx. Characters with which a client could
/// forge a line or move a terminal's cursor are written as `\xHH`.
[[nodiscard]] std::string combined_line(const access& access);
/// Escapes characters that could forge a line, or end quotes around the text, as `\xHH`.
[[nodiscard]] std::string escaped_for_log(std::string_view text);
/// Returns the address without its port.
[[nodiscard]] std::string_view host_of_client(std::string_view client);
/// The version as in log lines: "HTTP/1.1".
[[nodiscard]] std::string version_text(unsigned version);

}  // namespace strata::http
