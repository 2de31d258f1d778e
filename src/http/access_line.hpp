// A line of an access log: one request and what it was answered.
#pragma once

#include <cstdint>
#include <string>
#include <string_view>

#include "http/exchange.hpp"

namespace strata::http {

struct access {
  const proto::http_request& request;  ///< without a method: it could not be read
  std::string_view client;             ///< its address, with the port
  std::string_view tls_subject = {};   ///< of the certificate that it has shown; empty: none
  std::int64_t time_s = 0;             ///< since 1970
  double seconds = 0;                  ///< that the answer took
  int status = 0;
  std::uint64_t bytes = 0;           ///< of the answer's body
  std::string_view backend = {};     ///< that has answered; empty: none
  std::string_view route = {};       ///< that has led there; empty: none
  std::uint64_t retries = 0;         ///< backends that were tried in vain before
  std::string_view request_id = {};  ///< empty: it has none
};

/// As Apache and nginx write their "combined" log. What a client could use to forge a line, or to
/// move a terminal's cursor, is written as `\xHH`.
[[nodiscard]] std::string combined_line(const access& access);
/// Text without what could forge a line, or end quotes around it: that is written as `\xHH`.
[[nodiscard]] std::string escaped_for_log(std::string_view text);
/// The address alone of one with a port.
[[nodiscard]] std::string_view host_of_client(std::string_view client);
/// As log lines have it: "HTTP/1.1".
[[nodiscard]] std::string version_text(unsigned version);

}  // namespace strata::http
