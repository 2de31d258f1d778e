#include "cli/terminal/hex_dump.hpp"

#include <fmt/format.h>

#include <algorithm>

namespace strata::cli {

std::string hex_dump(byte_span bytes) {
  constexpr std::size_t width = 16;
  std::string text;
  for (std::size_t at = 0; at < bytes.size(); at += width) {
    const auto part = bytes.subspan(at, std::min(width, bytes.size() - at));
    std::string numbers;
    std::string letters;
    for (const auto each : part) {
      const auto value = std::to_integer<unsigned char>(each);
      numbers += fmt::format("{:02x} ", value);
      letters += value >= 0x20 && value < 0x7F ? static_cast<char>(value) : '.';
    }
    text += fmt::format("    {:04x}  {:<48} {}\n", at, numbers, letters);
  }
  return text;
}

}  // namespace strata::cli
