#include "proto/http/http_target.hpp"

#include <algorithm>

#include "text/percent.hpp"
#include "text/word.hpp"

namespace strata::proto {

namespace {

constexpr bool is_decimal(char each) { return each >= '0' && each <= '9'; }

// RFC 9112 section 3.2.2: the target's authority applies, not the Host field.
void name_host(http_fields& fields, std::string_view authority) {
  for (auto& [name, value] : fields) {
    if (name != "host") continue;
    value = authority;
    return;
  }
  fields.emplace_back("host", authority);
}

}  // namespace

// Splits a target into path and query; the absolute form, `http://host/path`, is for proxies, but
// all servers must accept it (RFC 9112 section 3.2.2).
bool split_target(http_request& request) {
  std::string_view target = request.target;
  if (const auto scheme = target.find("://");
      !target.starts_with('/') && scheme != std::string_view::npos) {
    const auto slash = target.find_first_of("/?", scheme + 3);
    const auto host = target.substr(scheme + 3, slash - scheme - 3);
    if (host.empty() || !is_host(host)) return false;
    name_host(request.headers, host);
    target = slash == std::string_view::npos ? "/" : target.substr(slash);
  }
  const auto mark = target.find('?');
  auto path = text::percent_decode(target.substr(0, mark), text::plus_sign::literal);
  auto query = text::parse_query(mark == std::string_view::npos ? "" : target.substr(mark + 1));
  if (!path) return false;
  request.path = path->empty() ? "/" : std::move(*path);
  // A query is only bytes unless one of its fields is requested.
  request.has_opaque_query = !query;
  if (query) request.query = std::move(*query);
  return true;
}

bool is_host(std::string_view value) {
  const auto is_name_char = [](char each) {
    const char small = text::in_lower(each);
    return is_decimal(each) || (small >= 'a' && small <= 'z') ||
           std::string_view("-._~!$&'()*+,;=%").contains(each);
  };
  std::size_t end = 0;
  if (value.starts_with('[')) {
    end = std::min(value.find(']'), value.size());
    if (end == value.size() || end < 3) return false;
    const auto inside = value.substr(1, end - 1);
    const auto is_literal_char = [&](char each) { return is_name_char(each) || each == ':'; };
    if (!std::ranges::all_of(inside, is_literal_char)) return false;
    ++end;
  } else {
    end = std::min(value.find(':'), value.size());
    if (!std::ranges::all_of(value.substr(0, end), is_name_char)) return false;
  }
  const auto port = value.substr(end);
  return port.empty() || (port.front() == ':' && port.size() <= 6 &&
                          std::ranges::all_of(port.substr(1), is_decimal));
}

}  // namespace strata::proto
