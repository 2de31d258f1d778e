#include "strata/base/mac_address.hpp"

#include <algorithm>

namespace strata {

namespace {

constexpr std::size_t text_size = 17;

int digit_of(char letter) {
  if (letter >= '0' && letter <= '9') return letter - '0';
  if (letter >= 'a' && letter <= 'f') return letter - 'a' + 10;
  if (letter >= 'A' && letter <= 'F') return letter - 'A' + 10;
  return -1;
}

}  // namespace

mac_address::mac_address(std::span<const std::byte, size> bytes) {
  std::ranges::transform(bytes, octets_.begin(),
                         [](std::byte each) { return static_cast<std::uint8_t>(each); });
}

result<mac_address> mac_address::from_text(std::string_view text) {
  const auto refuse = [&](std::string reason) {
    return failure(errc::invalid_argument, "use MAC address '" + std::string(text) + "'",
                   std::move(reason), "write six pairs of hex digits: 02:00:00:00:00:01");
  };
  if (text.size() != text_size) return refuse("it is not 17 characters long");
  const char separator = text[2];
  if (separator != ':' && separator != '-') {
    return refuse("its pairs are not separated by ':' or '-'");
  }
  std::array<std::uint8_t, size> octets{};
  for (std::size_t i = 0; i < size; ++i) {
    const int high = digit_of(text[3 * i]);
    const int low = digit_of(text[3 * i + 1]);
    if (high < 0 || low < 0) return refuse("pair " + std::to_string(i + 1) + " is not hexadecimal");
    if (i != 0 && text[3 * i - 1] != separator) return refuse("its separators differ");
    octets[i] = static_cast<std::uint8_t>(high << 4 | low);
  }
  return mac_address(octets);
}

std::string mac_address::text() const {
  constexpr std::string_view digits = "0123456789abcdef";
  std::string made;
  made.reserve(text_size);
  for (const auto octet : octets_) {
    if (!made.empty()) made += ':';
    made += digits[octet >> 4U];
    made += digits[octet & 0x0FU];
  }
  return made;
}

}  // namespace strata
