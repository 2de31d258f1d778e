#include "http/field.hpp"

#include <algorithm>

#include "net/scheme.hpp"
#include "proto/token.hpp"

namespace strata::http {

namespace {

bool is_value_letter(char letter) {
  const auto code = static_cast<unsigned char>(letter);
  return letter == '\t' || (code >= ' ' && code != 0x7F);
}

}  // namespace

result<std::pair<std::string, std::string>> parse_field(std::string_view text) {
  const auto colon = std::min(text.find(':'), text.size());
  const auto name = text.substr(0, colon);
  auto value = text.substr(std::min(colon + 1, text.size()));
  while (value.starts_with(' ')) value.remove_prefix(1);
  while (value.ends_with(' ')) value.remove_suffix(1);
  const bool is_right =
      colon < text.size() && proto::is_token(name) && std::ranges::all_of(value, is_value_letter);
  if (!is_right) {
    return failure(errc::invalid_argument, "read the header field '" + std::string(text) + "'",
                   "it is not a name, a colon and a value", "write 'Name: value'");
  }
  return std::pair{std::string(name), std::string(value)};
}

std::string host_field(const net::endpoint_url& url) {
  const auto host = url.host.contains(':') ? "[" + url.host + "]" : url.host;
  return url.port == url.scheme->default_port ? host : host + ":" + std::to_string(url.port);
}

}  // namespace strata::http
