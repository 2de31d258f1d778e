// Tokens of HTTP (RFC 9110 section 5.6.2): the syntax of methods, field names and extension names.
#pragma once

#include <algorithm>
#include <string_view>

namespace strata::proto {

[[nodiscard]] constexpr bool is_token_char(char each) {
  constexpr std::string_view marks = "!#$%&'*+-.^_`|~";
  return (each >= '0' && each <= '9') || (each >= 'a' && each <= 'z') ||
         (each >= 'A' && each <= 'Z') || marks.contains(each);
}

[[nodiscard]] constexpr bool is_token(std::string_view text) {
  return !text.empty() && std::ranges::all_of(text, is_token_char);
}

}  // namespace strata::proto
