// Names of commands and options, which stand for themselves in any case.
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
/// It has neither blanks nor anything that a terminal does not show: ASCII from '!' to '~' alone.
[[nodiscard]] inline bool is_visible(std::string_view text) {
  return std::ranges::all_of(text, [](char each) { return each >= '!' && each <= '~'; });
}
/// In double quotes, with what is not printable as \n, \x00 and their like.
[[nodiscard]] std::string quoted(std::string_view text);

}  // namespace strata::text
