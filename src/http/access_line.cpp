#include "http/access_line.hpp"

#include <fmt/chrono.h>
#include <fmt/format.h>

#include <ctime>

namespace strata::http {

namespace {

// Escapes `text`. `least`: the first character that is not escaped.
std::string escaped(std::string_view text, char least) {
  std::string made;
  for (const char each : text) {
    const auto code = static_cast<unsigned char>(each);
    if (each < least || code >= 0x7F || each == '"' || each == '\\') {
      fmt::format_to(std::back_inserter(made), "\\x{:02X}", code);
    } else {
      made += each;
    }
  }
  return made;
}

std::string in_quotes(std::string_view text) { return '"' + escaped_for_log(text) + '"'; }

// A field without quotes ends at a space.
std::string user_of(const access& access) {
  return access.tls_subject.empty() ? "-" : escaped(access.tls_subject, '!');
}

}  // namespace

std::string escaped_for_log(std::string_view text) { return escaped(text, ' '); }

// Readers of the log expect no port.
std::string_view host_of_client(std::string_view client) {
  if (client.starts_with('[')) return client.substr(1, client.rfind(']') - 1);
  const auto host = client.substr(0, client.rfind(':'));
  return host.empty() ? "-" : host;
}

std::string version_text(unsigned version) {
  return version == 20 ? "HTTP/2.0" : fmt::format("HTTP/{}.{}", version / 10, version % 10);
}

std::string combined_line(const access& access) {
  const auto& request = access.request;
  const auto line = request.method.empty() ? "-"
                                           : fmt::format("{} {} {}", request.method, request.target,
                                                         version_text(request.version));
  return fmt::format("{} - {} [{:%d/%b/%Y:%H:%M:%S} +0000] {} {} {} {} {}",
                     escaped(host_of_client(access.client), '!'), user_of(access),
                     fmt::gmtime(static_cast<std::time_t>(access.time_s)), in_quotes(line),
                     access.status, access.bytes,
                     in_quotes(request.header("referer").value_or("-")),
                     in_quotes(request.header("user-agent").value_or("-")));
}

}  // namespace strata::http
