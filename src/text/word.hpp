// Words such as names of commands and options, which are compared ignoring case.
#pragma once

#include <algorithm>
#include <string>
#include <string_view>

namespace strata::text {

[[nodiscard]] constexpr char in_lower(char each) {
  return each >= 'A' && each <= 'Z' ? static_cast<char>(each | 0x20) : each;
}
[[nodiscard]] constexpr char in_upper(char each) {
  return each >= 'a' && each <= 'z' ? static_cast<char>(each & ~0x20) : each;
}
[[nodiscard]] inline bool same_text(std::string_view left, std::string_view right) {
  return std::ranges::equal(left, right, {}, in_lower, in_lower);
}
[[nodiscard]] inline std::string in_capitals(std::string_view text) {
  std::string made(text);
  std::ranges::transform(made, made.begin(), in_upper);
  return made;
}
[[nodiscard]] inline std::string in_small_letters(std::string_view text) {
  std::string made(text);
  std::ranges::transform(made, made.begin(), in_lower);
  return made;
}
/// Returns `text` without the characters of `blanks` at both ends. A view of `text`.
[[nodiscard]] constexpr std::string_view trimmed(std::string_view text,
                                                 std::string_view blanks = " \t") {
  const auto first = text.find_first_not_of(blanks);
  if (first == std::string_view::npos) return {};
  return text.substr(first, text.find_last_not_of(blanks) - first + 1);
}
/// Reports whether the text consists of visible characters only: ASCII from '!' to '~'.
[[nodiscard]] inline bool is_visible(std::string_view text) {
  return std::ranges::all_of(text, [](char each) { return each >= '!' && each <= '~'; });
}
/// Returns the text in double quotes, with unprintable characters as \n, \x00 and so on.
[[nodiscard]] std::string quoted(std::string_view text);

}  // namespace strata::text
