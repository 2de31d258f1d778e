#include "text/real_text.hpp"

#include <algorithm>
#include <array>
#include <bit>
#include <charconv>
#include <cmath>
#include <cstdint>

namespace strata::text {

namespace {

__extension__ using uint128 = unsigned __int128;

constexpr int digits = 17;
constexpr double most_fixed = 1e17;
constexpr double least_fixed = 1e-4;

// The powers of ten from least_fixed on. If a power is not exactly a double, this is the least
// double above it, so that a comparison with it is a comparison with the power.
constexpr int least_power = -4;
constexpr std::array<double, 21> powers = {1e-4, 1e-3, 1e-2, 1e-1, 1e0,  1e1,  1e2,
                                           1e3,  1e4,  1e5,  1e6,  1e7,  1e8,  1e9,
                                           1e10, 1e11, 1e12, 1e13, 1e14, 1e15, 1e16};

uint128 power_of_five(int exponent) {
  uint128 value = 1;
  for (; exponent >= 2; exponent -= 2) value *= 25;
  return exponent == 1 ? value * 5 : value;
}

// Returns `value` times 10 to the `exponent`, rounded to the nearest integer, ties to even. Exact:
// 53 bits of the value and at most 47 of the power of five fit into 128.
std::uint64_t scaled(double value, int exponent) {
  const auto bits = std::bit_cast<std::uint64_t>(value);
  constexpr std::uint64_t hidden = std::uint64_t{1} << 52U;
  const uint128 mantissa = (bits & (hidden - 1)) | hidden;
  const int shift = static_cast<int>(bits >> 52U) - 1075 + exponent;
  const uint128 product = mantissa * power_of_five(exponent);
  if (shift >= 0) return static_cast<std::uint64_t>(product << static_cast<unsigned>(shift));
  const auto down = static_cast<unsigned>(-shift);
  const auto whole = static_cast<std::uint64_t>(product >> down);
  const uint128 rest = product & ((uint128{1} << down) - 1);
  const uint128 half = uint128{1} << (down - 1);
  return whole + (rest > half || (rest == half && (whole & 1U) != 0) ? 1 : 0);
}

// Writes a positive value from least_fixed up to most_fixed, without an exponent.
char* write_fixed(double value, char* bytes) {
  const auto above = std::ranges::upper_bound(powers, value) - powers.begin();
  int power = least_power + static_cast<int>(above) - 1;  // of the first digit
  std::uint64_t all = scaled(value, digits - 1 - power);
  if (all == static_cast<std::uint64_t>(most_fixed)) {  // rounded up to one more digit
    all /= 10;
    ++power;
  }
  std::array<char, 24> text;
  std::to_chars(text.data(), text.data() + text.size(), all);
  int size = digits;
  while (text[static_cast<std::size_t>(size) - 1] == '0') --size;
  if (power < 0) {
    bytes = std::copy_n("0.000", 1 - power, bytes);
    return std::copy_n(text.data(), size, bytes);
  }
  const int whole = power + 1;
  bytes = std::copy_n(text.data(), whole, bytes);
  if (size <= whole) return bytes;
  *bytes++ = '.';
  return std::copy_n(text.data() + whole, size - whole, bytes);
}

}  // namespace

std::string_view format_real(double value, char (&buffer)[40]) {
  if (std::isinf(value)) return value > 0 ? "inf" : "-inf";
  const double size = std::abs(value);
  char* end = buffer;
  if (size < most_fixed && value != 0 && std::trunc(value) == value) {
    end = std::to_chars(buffer, buffer + sizeof buffer, static_cast<std::int64_t>(value)).ptr;
  } else if (size < most_fixed && size >= least_fixed) {
    if (value < 0) *end++ = '-';
    end = write_fixed(size, end);
  } else {
    end = std::to_chars(buffer, buffer + sizeof buffer, value, std::chars_format::general, digits)
              .ptr;
  }
  return {buffer, static_cast<std::size_t>(end - buffer)};
}

}  // namespace strata::text
