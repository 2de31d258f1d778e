// The writing half of http1.hpp: a head is text, so it needs no library.
#include <fmt/format.h>

#include <algorithm>
#include <array>

#include "proto/http/http1.hpp"

namespace strata::proto {

namespace {

// IANA's registry of HTTP's status codes, in their order.
constexpr std::array<std::pair<int, std::string_view>, 60> reasons = {{
    {100, "Continue"},
    {101, "Switching Protocols"},
    {102, "Processing"},
    {103, "Early Hints"},
    {200, "OK"},
    {201, "Created"},
    {202, "Accepted"},
    {203, "Non-Authoritative Information"},
    {204, "No Content"},
    {205, "Reset Content"},
    {206, "Partial Content"},
    {207, "Multi-Status"},
    {208, "Already Reported"},
    {226, "IM Used"},
    {300, "Multiple Choices"},
    {301, "Moved Permanently"},
    {302, "Found"},
    {303, "See Other"},
    {304, "Not Modified"},
    {305, "Use Proxy"},
    {307, "Temporary Redirect"},
    {308, "Permanent Redirect"},
    {400, "Bad Request"},
    {401, "Unauthorized"},
    {402, "Payment Required"},
    {403, "Forbidden"},
    {404, "Not Found"},
    {405, "Method Not Allowed"},
    {406, "Not Acceptable"},
    {407, "Proxy Authentication Required"},
    {408, "Request Timeout"},
    {409, "Conflict"},
    {410, "Gone"},
    {411, "Length Required"},
    {412, "Precondition Failed"},
    {413, "Content Too Large"},
    {414, "URI Too Long"},
    {415, "Unsupported Media Type"},
    {416, "Range Not Satisfiable"},
    {417, "Expectation Failed"},
    {421, "Misdirected Request"},
    {422, "Unprocessable Content"},
    {423, "Locked"},
    {424, "Failed Dependency"},
    {425, "Too Early"},
    {426, "Upgrade Required"},
    {428, "Precondition Required"},
    {429, "Too Many Requests"},
    {431, "Request Header Fields Too Large"},
    {451, "Unavailable For Legal Reasons"},
    {500, "Internal Server Error"},
    {501, "Not Implemented"},
    {502, "Bad Gateway"},
    {503, "Service Unavailable"},
    {504, "Gateway Timeout"},
    {505, "HTTP Version Not Supported"},
    {506, "Variant Also Negotiates"},
    {507, "Insufficient Storage"},
    {508, "Loop Detected"},
    {511, "Network Authentication Required"},
}};

}  // namespace

std::string_view http_reason(int status) {
  const auto* const row =
      std::ranges::lower_bound(reasons, status, {}, &std::pair<int, std::string_view>::first);
  return row != reasons.end() && row->first == status ? row->second : "Unknown";
}

std::string http_response(int status, std::string_view content_type, std::string_view body,
                          bool keep_alive) {
  std::string text = fmt::format("HTTP/1.1 {} {}\r\n", status, http_reason(status));
  // RFC 9110 section 8.6: a 204 has no Content-Length, and a 304's would be that of the omitted
  // body.
  const bool has_body = status != 204 && status != 304;
  if (has_body) {
    if (!content_type.empty()) text += fmt::format("Content-Type: {}\r\n", content_type);
    text += fmt::format("Content-Length: {}\r\n", body.size());
  }
  text += keep_alive ? "Connection: keep-alive\r\n\r\n" : "Connection: close\r\n\r\n";
  if (has_body) text += body;
  return text;
}

std::string http_response_head_text(int status, const http_fields& fields) {
  auto text = fmt::format("HTTP/1.1 {} {}\r\n", status, http_reason(status));
  for (const auto& [name, value] : fields) text += fmt::format("{}: {}\r\n", name, value);
  return text + "\r\n";
}

std::string http_last_chunk(const http_fields& trailers) {
  std::string text = "0\r\n";
  for (const auto& [name, value] : trailers) text += fmt::format("{}: {}\r\n", name, value);
  return text + "\r\n";
}

std::string http_request_text(std::string_view method, std::string_view target,
                              const http_fields& fields, std::string_view body) {
  std::string text = fmt::format("{} {} HTTP/1.1\r\n", method, target);
  for (const auto& [name, value] : fields) text += fmt::format("{}: {}\r\n", name, value);
  // RFC 9110 section 8.6: a method for which a body is meaningful sends the length even of an empty
  // one.
  const bool says_length =
      !body.empty() || method == "POST" || method == "PUT" || method == "PATCH";
  if (says_length) text += fmt::format("Content-Length: {}\r\n", body.size());
  text += "\r\n";
  text += body;
  return text;
}

}  // namespace strata::proto
