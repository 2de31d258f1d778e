#include "proto/http/http1_head.hpp"

#include <algorithm>
#include <cstddef>

#include "proto/http/http_target.hpp"
#include "proto/token.hpp"
#include "text/word.hpp"

namespace strata::proto {

namespace {

using verdict = std::optional<head_refusal>;

constexpr bool is_digit(char each) { return each >= '0' && each <= '9'; }
constexpr bool is_visible(char each) { return each > ' ' && each < '\x7F'; }
constexpr bool is_control_byte(char each) {
  return (static_cast<unsigned char>(each) < ' ' && each != '\t') || each == '\x7F';
}

/// Takes the next line without its end off `rest`.
std::string_view take_line(std::string_view& rest) {
  const auto end = std::min(rest.find("\r\n"), rest.size());
  const auto line = rest.substr(0, end);
  rest.remove_prefix(std::min(end + 2, rest.size()));
  return line;
}

/// Section 3.2: each form of target is for certain methods.
bool is_target(std::string_view target, std::string_view method) {
  if (target.empty() || !std::ranges::all_of(target, is_visible)) return false;
  if (target.contains('#')) return false;
  if (method == "CONNECT") return !target.contains('/') && target.contains(':');
  if (target.starts_with('/')) return true;
  if (target == "*") return method == "OPTIONS";
  const auto scheme = target.substr(0, std::min(target.find("://"), target.size()));
  const auto is_scheme_char = [](char each) {
    const char small = text::in_lower(each);
    return is_digit(each) || (small >= 'a' && small <= 'z') || each == '+' || each == '-' ||
           each == '.';
  };
  return scheme.size() + 3 < target.size() && !scheme.empty() && !is_digit(scheme.front()) &&
         std::ranges::all_of(scheme, is_scheme_char);
}

verdict check_request_line(std::string_view line) {
  const auto method = line.substr(0, line.find(' '));
  const auto last = line.rfind(' ');
  if (!is_token(method) || last == std::string_view::npos || last == method.size()) {
    return head_refusal{400, "its first line is not a method, a target and a version"};
  }
  const auto version = line.substr(last + 1);
  // Section 2.3: HTTP in capitals, and one digit each.
  if (version.size() != 8 || !version.starts_with("HTTP/") || !is_digit(version[5]) ||
      version[6] != '.' || !is_digit(version[7])) {
    return head_refusal{400, "its version is not an HTTP version"};
  }
  if (!is_target(line.substr(method.size() + 1, last - method.size() - 1), method)) {
    return head_refusal{400, "its target is invalid for the method"};
  }
  if (version[5] != '1') return head_refusal{505, "its version is not HTTP/1"};
  return {};
}

/// The fields that determine the destination and the end of the request.
struct framing_fields {
  unsigned hosts = 0;
  unsigned lengths = 0;
  unsigned codings = 0;

  verdict add(std::string_view name, std::string_view value) {
    if (text::same_text(name, "host")) {
      ++hosts;
      if (!is_host(value)) return head_refusal{400, "its Host is invalid"};
    }
    if (text::same_text(name, "content-length")) {
      ++lengths;
      if (value.empty() || !std::ranges::all_of(value, is_digit)) {
        return head_refusal{400, "its Content-Length is not a number"};
      }
    }
    if (text::same_text(name, "transfer-encoding")) return add_codings(value);
    return {};
  }

  // Section 6.1: only chunked is supported. Behind another coding it leads to 501, and if it is not
  // the last coding, the body's end is unknown.
  verdict add_codings(std::string_view value) {
    ++codings;
    const auto comma = value.rfind(',');
    const auto is_list = comma != std::string_view::npos;
    const auto last = text::trimmed(is_list ? value.substr(comma + 1) : value);
    if (!text::same_text(last, "chunked")) {
      return head_refusal{400, "chunked is not its last transfer coding"};
    }
    const auto before = is_list ? value.substr(0, comma) : std::string_view();
    if (text::in_small_letters(before).contains("chunked")) {
      return head_refusal{400, "it is chunked twice"};
    }
    if (is_list) return head_refusal{501, "it has a transfer coding other than chunked"};
    return {};
  }

  [[nodiscard]] verdict check(bool is_1_0) const {
    if (hosts > 1) return head_refusal{400, "it has two Hosts"};
    if (hosts == 0 && !is_1_0) return head_refusal{400, "it has no Host"};
    if (lengths > 1) return head_refusal{400, "it has two Content-Lengths"};
    if (codings > 1) return head_refusal{400, "it has two Transfer-Encodings"};
    if (codings > 0 && lengths > 0) {
      return head_refusal{400, "it has a Content-Length and a Transfer-Encoding"};
    }
    if (codings > 0 && is_1_0) return head_refusal{400, "HTTP/1.0 has no Transfer-Encoding"};
    return {};
  }
};

}  // namespace

std::optional<head_refusal> check_request_head(std::string_view head) {
  const auto first = take_line(head);
  if (auto wrong = check_request_line(first)) return wrong;
  framing_fields fields;
  for (auto line = take_line(head); !line.empty(); line = take_line(head)) {
    if (line.front() == ' ' || line.front() == '\t') {  // section 5.2
      return head_refusal{400, "a field continues on a second line"};
    }
    const auto colon = std::min(line.find(':'), line.size());
    if (colon == line.size() || !is_token(line.substr(0, colon))) {  // section 5.1
      return head_refusal{400, "a field's name is invalid"};
    }
    const auto value = text::trimmed(line.substr(colon + 1));
    if (std::ranges::any_of(value, is_control_byte)) {  // RFC 9110 section 5.5
      return head_refusal{400, "a field's value has a control character"};
    }
    if (auto wrong = fields.add(line.substr(0, colon), value)) return wrong;
  }
  return fields.check(first.ends_with(".0"));
}

}  // namespace strata::proto
