#include "text/base64.hpp"

#include <algorithm>
#include <array>
#include <cstdint>

namespace strata::text {

namespace {

constexpr std::string_view alphabet =
    "ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789+/";
constexpr std::uint32_t highest_value = 63;  // of a letter
constexpr std::uint8_t no_letter = 255;

constexpr auto value_of = [] {
  std::array<std::uint8_t, 256> values{};
  values.fill(no_letter);
  for (std::size_t at = 0; at < alphabet.size(); ++at) {
    values[static_cast<unsigned char>(alphabet[at])] = static_cast<std::uint8_t>(at);
  }
  return values;
}();

}  // namespace

std::string base64_encode(byte_span bytes) {
  std::string text;
  text.reserve((bytes.size() + 2) / 3 * 4);
  for (std::size_t at = 0; at < bytes.size(); at += 3) {
    const auto count = std::min<std::size_t>(3, bytes.size() - at);
    std::uint32_t group = 0;
    for (std::size_t i = 0; i < 3; ++i) {
      group = group << 8U | (i < count ? std::to_integer<std::uint32_t>(bytes[at + i]) : 0U);
    }
    for (unsigned i = 0; i < 4; ++i) {
      text += i <= count ? alphabet[group >> (18U - 6U * i) & 63U] : '=';
    }
  }
  return text;
}

std::optional<std::string> base64_decode(std::string_view text) {
  if (text.size() % 4 != 0) return std::nullopt;
  std::size_t padding = 0;
  while (padding < 2 && padding < text.size() && text[text.size() - 1 - padding] == '=') ++padding;
  std::string bytes(text.size() / 4 * 3, '\0');
  const auto letters = text.size() - padding;
  std::uint32_t seen = 0;  // the bits of all values
  auto* place = bytes.data();
  for (std::size_t at = 0; at < text.size(); at += 4) {
    std::uint32_t group = 0;
    for (std::size_t i = at; i < at + 4; ++i) {
      const auto value = i < letters ? value_of[static_cast<unsigned char>(text[i])] : 0U;
      seen |= value;
      group = group << 6U | value;
    }
    for (const unsigned shift : {16U, 8U, 0U}) *place++ = static_cast<char>(group >> shift & 255U);
  }
  if (seen > highest_value) return std::nullopt;
  for (; padding > 0; --padding) {
    if (bytes.back() != 0) return std::nullopt;
    bytes.pop_back();
  }
  return bytes;
}

}  // namespace strata::text
