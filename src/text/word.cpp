#include "text/word.hpp"

#include <fmt/format.h>

namespace strata::text {

std::string quoted(std::string_view text) {
  constexpr std::string_view special = "\n\r\t\a\b";
  constexpr std::string_view letters = "nrtab";
  std::string made = "\"";
  for (const char each : text) {
    if (each == '"' || each == '\\') {
      made += '\\';
      made += each;
    } else if (const auto at = special.find(each); at != std::string_view::npos) {
      made += '\\';
      made += letters[at];
    } else if (each < ' ' || each > '~') {
      made += fmt::format("\\x{:02x}", static_cast<unsigned char>(each));
    } else {
      made += each;
    }
  }
  return made + "\"";
}

}  // namespace strata::text
