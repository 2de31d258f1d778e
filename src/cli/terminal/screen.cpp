#include "cli/terminal/screen.hpp"

#include <sys/ioctl.h>
#include <unistd.h>

#include <algorithm>

namespace strata::cli {

bool has_screen() { return ::isatty(STDOUT_FILENO) == 1; }

std::size_t screen_width() {
  constexpr std::size_t usual = 100;
  constexpr std::size_t least = 40;
  winsize size{};
  const bool is_reported = ::ioctl(STDOUT_FILENO, TIOCGWINSZ, &size) == 0 && size.ws_col > 0;
  return is_reported ? std::max<std::size_t>(size.ws_col, least) : usual;
}

std::size_t screen_height() {
  constexpr std::size_t usual = 24;
  winsize size{};
  const bool is_reported = ::ioctl(STDOUT_FILENO, TIOCGWINSZ, &size) == 0 && size.ws_row > 0;
  return is_reported ? size.ws_row : usual;
}

}  // namespace strata::cli
