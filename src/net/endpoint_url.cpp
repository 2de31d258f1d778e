#include "net/endpoint_url.hpp"

#include <algorithm>
#include <charconv>

#include "net/ethernet/ethernet_url.hpp"
#include "net/scheme.hpp"

namespace strata::net {

namespace {

std::unexpected<error> refuse(std::string_view text, std::string reason, std::string remedy) {
  return failure(errc::invalid_argument, "use endpoint '" + std::string(text) + "'",
                 std::move(reason), std::move(remedy));
}

std::unexpected<error> refuse(const endpoint_url& url, std::string_view text, std::string reason) {
  return refuse(text, std::move(reason), "write " + std::string(url.scheme->example));
}

result<std::uint16_t> parse_port(const endpoint_url& url, std::string_view text,
                                 std::string_view whole) {
  std::uint16_t port = 0;
  const char* end = text.data() + text.size();
  const auto [rest, code] = std::from_chars(text.data(), end, port);
  if (text.empty() || code != std::errc{} || rest != end) {
    return refuse(url, whole, "'" + std::string(text) + "' is not a port from 0 to 65535");
  }
  return port;
}

/// Refuses several endpoints in one flag.
result<void> check_alone(std::string_view place, std::string_view text) {
  const auto separator = place.find_first_of(",;");
  if (separator == std::string_view::npos) return {};
  return refuse(text, std::string("'") + place[separator] + "' cannot separate endpoints",
                "give each endpoint with its own flag");
}

bool is_host_character(char letter) {
  const bool alphanumeric = (letter >= 'a' && letter <= 'z') || (letter >= 'A' && letter <= 'Z') ||
                            (letter >= '0' && letter <= '9');
  return alphanumeric || letter == '.' || letter == '-' || letter == '_' || letter == ':' ||
         letter == '%';
}

result<endpoint_url> parse_host_and_port(endpoint_url url, std::string_view rest,
                                         std::string_view text) {
  if (const auto alone = check_alone(rest, text); !alone) return std::unexpected(alone.error());
  std::string_view host;
  std::string_view port;
  if (rest.starts_with('[')) {
    const auto close = rest.find("]:");
    if (close == std::string_view::npos)
      return refuse(url, text, "its [address] lacks the ']' or a port");
    host = rest.substr(1, close - 1);
    port = rest.substr(close + 2);
  } else {
    const auto last = rest.rfind(':');
    if (last == std::string_view::npos) return refuse(url, text, "it has no port");
    host = rest.substr(0, last);
    port = rest.substr(last + 1);
    if (host.contains(':')) {
      return refuse(url, text, "write an IPv6 address in brackets: [::1]:80");
    }
  }
  if (host.empty()) return refuse(url, text, "it has no host");
  if (host.size() > 255) return refuse(url, text, "its host has more than 255 characters");
  for (const char letter : host) {
    if (host != "*" && !is_host_character(letter)) {
      return refuse(url, text, "its host is not a name or an address");
    }
  }
  auto number = parse_port(url, port, text);
  if (!number) return std::unexpected(number.error());
  url.host = host;
  url.port = *number;
  return url;
}

// Parses `HOST[:PORT][/PATH]`. The part from the slash on is sent to the server unchanged.
result<endpoint_url> parse_web(endpoint_url url, std::string_view rest, std::string_view text) {
  const auto slash = std::min(rest.find('/'), rest.size());
  const auto path = rest.substr(slash);
  for (const char letter : path) {
    if (letter <= ' ' || letter > '~' || letter == '#') {
      return refuse(url, text, "its path has a character that must be written as %XX");
    }
  }
  std::string authority(rest.substr(0, slash));
  const bool has_port = authority.find(':', authority.starts_with('[') ? authority.find(']') : 0) !=
                        std::string::npos;
  if (!has_port) authority += ':' + std::to_string(url.scheme->default_port);
  url.path = path == "/" ? "" : path;
  return parse_host_and_port(std::move(url), authority, text);
}

// `mode=0660&group=NAME`
result<endpoint_url> parse_access(endpoint_url url, std::string_view query, std::string_view text) {
  while (!query.empty()) {
    const auto pair = query.substr(0, query.find('&'));
    query.remove_prefix(std::min(query.size(), pair.size() + 1));
    const auto key = pair.substr(0, pair.find('='));
    const auto value = pair.substr(std::min(pair.size(), key.size() + 1));
    if (key == "mode") {
      unsigned mode = 0;
      const auto* const end = value.data() + value.size();
      const auto [last, code] = std::from_chars(value.data(), end, mode, 8);
      if (value.empty() || code != std::errc{} || last != end || mode > 0777) {
        return refuse(url, text,
                      "its mode '" + std::string(value) + "' is not a mode such as 0660");
      }
      url.access.mode = mode;
    } else if (key == "group" && !value.empty()) {
      url.access.group = value;
    } else {
      return refuse(url, text, "'" + std::string(pair) + "' is neither mode=0660 nor group=NAME");
    }
  }
  return url;
}

std::string write_access(const unix_access& access) {
  std::string text;
  if (access.mode) {
    std::string digits;
    for (int shift = 9; shift >= 0; shift -= 3) {
      digits += static_cast<char>('0' + ((*access.mode >> static_cast<unsigned>(shift)) & 7U));
    }
    text += "?mode=" + digits;
  }
  if (!access.group.empty()) text += (text.empty() ? "?group=" : "&group=") + access.group;
  return text;
}

result<endpoint_url> parse_path(endpoint_url url, std::string_view rest, std::string_view text) {
  if (rest.size() < 2 || rest.front() != '/') return refuse(url, text, "it has no absolute path");
  if (rest.contains('\0')) return refuse(url, text, "its path holds a NUL");
  const auto question = rest.find('?');
  url.path = rest.substr(0, question);
  if (question == std::string_view::npos) return url;
  return parse_access(std::move(url), rest.substr(question + 1), text);
}

result<endpoint_url> parse_interface(endpoint_url url, std::string_view rest,
                                     std::string_view text) {
  const auto slash = rest.find('/');
  const auto question = rest.find('?');
  const auto name = rest.substr(0, std::min(slash, question));
  if (name.empty() || name.size() > 15) {
    return refuse(url, text, "its interface name does not have 1 to 15 characters");
  }
  for (const char letter : name) {
    if (!is_host_character(letter)) return refuse(url, text, "its interface is not a valid name");
  }
  url.host = name;
  const auto more = rest.substr(name.size());
  const bool has_queue = url.scheme->form == url_form::queue;
  const auto read = has_queue ? parse_xdp(more, url) : parse_l2(more, url);
  if (!read) return refuse(url, text, read.error());
  return url;
}

result<endpoint_url> parse_name(endpoint_url url, std::string_view rest, std::string_view text) {
  if (const auto alone = check_alone(rest, text); !alone) return std::unexpected(alone.error());
  // NAME, NAME#INSTANCE, and each with @DAEMON.
  if (rest.empty() || rest.size() > 200)
    return refuse(url, text, "its name does not have 1 to 200 characters");
  for (const char letter : rest) {
    const bool is_mark = letter == '#' || letter == '@';
    if (!is_mark && !is_host_character(letter)) {
      return refuse(url, text, "its name is not valid for a runtime");
    }
  }
  url.host = rest;
  return url;
}

result<endpoint_url> parse_with_scheme(const scheme_row& row, std::string_view rest,
                                       std::string_view text) {
  endpoint_url url{.scheme = &row, .host = {}, .path = {}};
  switch (row.form) {
    case url_form::path: return parse_path(std::move(url), rest, text);
    case url_form::interface:
    case url_form::queue: return parse_interface(std::move(url), rest, text);
    case url_form::web: return parse_web(std::move(url), rest, text);
    case url_form::name: return parse_name(std::move(url), rest, text);
    case url_form::host_and_port: break;
  }
  return parse_host_and_port(std::move(url), rest, text);
}

/// `127.0.0.1:9000` is most likely meant as `tcp://127.0.0.1:9000`.
std::unexpected<error> refuse_without_scheme(std::string_view text, url_use use) {
  const auto likely = "tcp://" + std::string(text);
  const bool is_place = parse_with_scheme(schemes().front(), text, likely).has_value();
  return refuse(text, "it has no scheme",
                is_place ? "write " + likely + ", or another scheme before it"
                         : "write " + scheme_examples(use));
}

}  // namespace

bool endpoint_url::is_ethernet() const { return scheme->carries == traffic::frames; }

bool endpoint_url::is_stream() const { return scheme->carries == traffic::bytes; }

bool endpoint_url::is_web() const { return scheme->form == url_form::web; }

bool endpoint_url::has_port() const { return is_web() || scheme->form == url_form::host_and_port; }

bool endpoint_url::is_for_one() const { return !has_port(); }

bool endpoint_url::is_of_this_machine() const {
  if (!has_port()) return scheme->form == url_form::path;
  const auto address = loop::socket_address::from_ip(host, port);
  return address && address->is_of_this_machine();
}

std::string endpoint_url::text() const {
  const auto& row = *scheme;
  const std::string start = std::string(row.name) + "://";
  if (row.form == url_form::path) return start + path + write_access(access);
  if (row.form == url_form::interface) return start + host + write_l2(*this);
  if (row.form == url_form::queue) return start + host + write_xdp(*this);
  if (row.form == url_form::name) return start + host;
  const bool brackets = host.contains(':');
  return start + (brackets ? "[" + host + "]" : host) + ":" + std::to_string(port) + path;
}

result<endpoint_url> parse_endpoint(std::string_view text, url_use use) {
  const auto colon = text.find("://");
  if (colon == std::string_view::npos) return refuse_without_scheme(text, use);
  const scheme_row* row = nullptr;
  for (const auto& each : schemes()) {
    if (each.name == text.substr(0, colon)) row = &each;
  }
  if (row == nullptr) {
    return refuse(text, "scheme '" + std::string(text.substr(0, colon)) + "' is not known",
                  "write " + scheme_examples(use));
  }
  return parse_with_scheme(*row, text.substr(colon + 3), text);
}

}  // namespace strata::net
