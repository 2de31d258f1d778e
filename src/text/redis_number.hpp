// Numbers in Redis's formats: parsed strictly, so that a stored number prints as the same bytes
// again.
#pragma once

#include <charconv>
#include <cstdint>
#include <optional>
#include <string>
#include <string_view>

namespace strata::text {

/// Returns the integer that prints as exactly `text`, if there is one: no spaces, no plus, no
/// leading zero.
[[nodiscard]] inline std::optional<std::int64_t> parse_integer(std::string_view text) {
  if (text.empty() || text.size() > 20) return {};
  const bool negative = text.front() == '-';
  const auto digits = text.substr(negative ? 1 : 0);
  if (digits.empty() || digits.front() < '0' || digits.front() > '9') return {};
  if (digits.front() == '0') {
    if (text.size() != 1) return {};
    return 0;
  }
  std::int64_t value = 0;
  const auto* const end = text.data() + text.size();
  const auto read = std::from_chars(text.data(), end, value);
  if (read.ec != std::errc() || read.ptr != end) return {};
  return value;
}

/// Parses a float as Redis does for scores and increments: C's notations, infinities; no NaN, no
/// spaces, nothing behind it.
[[nodiscard]] std::optional<double> parse_real(std::string_view text);
[[nodiscard]] std::optional<long double> parse_long_real(std::string_view text);

/// Parses a number of bytes, with or without a unit: "100", "64mb".
[[nodiscard]] std::optional<std::int64_t> parse_memory(std::string_view text);

/// Formats as INCRBYFLOAT does: 17 digits behind the point, without the trailing zeros.
[[nodiscard]] std::string format_long_real(long double value);

/// The digits of an integer.
class integer_text {
 public:
  explicit integer_text(std::int64_t value)
      : size_(static_cast<std::size_t>(std::to_chars(text_, text_ + sizeof text_, value).ptr -
                                       text_)) {}
  [[nodiscard]] std::string_view view() const { return {text_, size_}; }

 private:
  char text_[24];
  std::size_t size_;
};

}  // namespace strata::text
