// Numbers as users type them.
#pragma once

#include <charconv>
#include <concepts>
#include <optional>
#include <string_view>

namespace strata::text {

/// Parses all of `text` as a decimal number, or as a hexadecimal one behind 0x; nullopt if it is
/// none, or too large.
template <std::integral Number>
[[nodiscard]] std::optional<Number> number_in(std::string_view text) {
  const bool is_hex = text.starts_with("0x");
  if (is_hex) text.remove_prefix(2);
  Number number{};
  const char* const end = text.data() + text.size();
  const auto [rest, code] = std::from_chars(text.data(), end, number, is_hex ? 16 : 10);
  if (text.empty() || code != std::errc{} || rest != end) return {};
  return number;
}

}  // namespace strata::text
