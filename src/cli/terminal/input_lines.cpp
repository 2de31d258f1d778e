#include "cli/terminal/input_lines.hpp"

#include <unistd.h>

#include <array>
#include <cerrno>

#include "text/readable.hpp"

namespace strata::cli {

outcome<> for_each_input_line(const std::function<outcome<>(std::string_view)>& take) {
  text::line_splitter lines;
  std::array<char, 65536> block;
  for (;;) {
    const auto count = ::read(STDIN_FILENO, block.data(), block.size());
    if (count < 0 && errno == EINTR) continue;
    if (count < 0) return refuse(exit_failed, system_error(errno, "read standard input"));
    const auto piece = std::string_view(block.data(), static_cast<std::size_t>(count));
    for (const auto& line : count == 0 ? lines.finish() : lines.feed(piece)) {
      if (auto taken = take(line); !taken) return taken;
    }
    if (count == 0) return {};
  }
}

std::optional<std::string> read_typed_line() {
  constexpr std::size_t longest = 4096;  // the longest line of a terminal
  std::string line;
  for (char letter = 0; line.size() < longest;) {
    const auto got = ::read(STDIN_FILENO, &letter, 1);
    if (got < 0 && errno == EINTR) continue;
    if (got <= 0) return std::nullopt;
    if (letter == '\n') return line;
    line += letter;
  }
  return line;
}

}  // namespace strata::cli
