// The writing half of http1.hpp: a head is text, so it needs no library.
#include <fmt/format.h>

#include "proto/http1.hpp"

namespace strata::proto {

std::string_view http_reason(int status) {
  switch (status) {
    case 100: return "Continue";
    case 101: return "Switching Protocols";
    case 200: return "OK";
    case 201: return "Created";
    case 202: return "Accepted";
    case 204: return "No Content";
    case 206: return "Partial Content";
    case 301: return "Moved Permanently";
    case 302: return "Found";
    case 304: return "Not Modified";
    case 400: return "Bad Request";
    case 401: return "Unauthorized";
    case 403: return "Forbidden";
    case 404: return "Not Found";
    case 405: return "Method Not Allowed";
    case 408: return "Request Timeout";
    case 409: return "Conflict";
    case 411: return "Length Required";
    case 413: return "Content Too Large";
    case 414: return "URI Too Long";
    case 415: return "Unsupported Media Type";
    case 426: return "Upgrade Required";
    case 429: return "Too Many Requests";
    case 431: return "Request Header Fields Too Large";
    case 500: return "Internal Server Error";
    case 501: return "Not Implemented";
    case 502: return "Bad Gateway";
    case 503: return "Service Unavailable";
    case 504: return "Gateway Timeout";
    case 505: return "HTTP Version Not Supported";
    case 507: return "Insufficient Storage";
    default: return "Unknown";
  }
}

std::string http_response(int status, std::string_view content_type, std::string_view body,
                          bool keep_alive) {
  std::string text = fmt::format("HTTP/1.1 {} {}\r\n", status, http_reason(status));
  // RFC 9110 section 8.6: a 204 has no Content-Length, and a 304's would be the other body's.
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

std::string http_chunk(std::string_view bytes) {
  return bytes.empty() ? std::string{} : fmt::format("{:x}\r\n{}\r\n", bytes.size(), bytes);
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
  // RFC 9110 section 8.6: a method that gives a body a meaning says so even when it is empty.
  const bool says_length =
      !body.empty() || method == "POST" || method == "PUT" || method == "PATCH";
  if (says_length) text += fmt::format("Content-Length: {}\r\n", body.size());
  text += "\r\n";
  text += body;
  return text;
}

}  // namespace strata::proto
