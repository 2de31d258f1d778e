#include "text/redis_number.hpp"

#include <array>
#include <cerrno>
#include <cmath>
#include <cstdio>
#include <cstdlib>
#include <cstring>

#include "text/word.hpp"

namespace strata::text {

namespace {

constexpr std::size_t longest = 255;

// strtod and strtold need a NUL-terminated text.
template <class Real, class Parse>
std::optional<Real> parse(std::string_view text, Parse&& convert) {
  std::array<char, longest + 1> copy;
  if (text.empty() || text.size() > longest) return {};
  if (text.front() == ' ' || (text.front() >= '\t' && text.front() <= '\r')) return {};
  std::memcpy(copy.data(), text.data(), text.size());
  copy[text.size()] = 0;
  char* end = nullptr;
  errno = 0;
  const Real value = convert(copy.data(), &end);
  if (end != copy.data() + text.size() || std::isnan(value)) return {};
  if (errno == ERANGE && (std::isinf(value) || value == 0)) return {};
  return value;
}

}  // namespace

std::optional<double> parse_real(std::string_view text) {
  // Nearly all numbers are plain decimals, which need no copy; C parses its other notations.
  double value = 0;
  const auto read = std::from_chars(text.data(), text.data() + text.size(), value);
  const bool is_whole = read.ec == std::errc() && read.ptr == text.data() + text.size();
  if (is_whole && !std::isnan(value)) return value;
  return parse<double>(text, [](const char* bytes, char** end) { return std::strtod(bytes, end); });
}

std::optional<long double> parse_long_real(std::string_view text) {
  return parse<long double>(text,
                            [](const char* bytes, char** end) { return std::strtold(bytes, end); });
}

std::string format_long_real(long double value) {
  std::array<char, 5120> text;  // the largest has 4933 digits before the point
  const auto size = std::snprintf(text.data(), text.size(), "%.17Lf", value);
  std::string_view shown(text.data(), static_cast<std::size_t>(size));
  if (shown.contains('.')) {
    while (shown.back() == '0') shown.remove_suffix(1);
    if (shown.back() == '.') shown.remove_suffix(1);
  }
  if (shown == "-0") shown = "0";
  return std::string(shown);
}

std::optional<std::int64_t> parse_memory(std::string_view text) {
  const auto digits = std::min(text.find_first_not_of("0123456789"), text.size());
  const auto value = parse_integer(text.substr(0, digits));
  const auto unit = text.substr(digits);
  if (!value) return {};
  struct unit_row {
    std::string_view name;
    std::int64_t factor;
  };
  constexpr std::array<unit_row, 8> units = {{{"", 1},
                                              {"b", 1},
                                              {"k", 1000},
                                              {"kb", 1024},
                                              {"m", 1000'000},
                                              {"mb", 1 << 20},
                                              {"g", 1000'000'000},
                                              {"gb", 1 << 30}}};
  for (const auto& each : units) {
    if (!same_text(each.name, unit)) continue;
    std::int64_t product = 0;
    if (__builtin_mul_overflow(*value, each.factor, &product)) return {};
    return product;
  }
  return {};
}

}  // namespace strata::text
