#include "cli/terminal/progress_bar.hpp"

#include <fmt/format.h>
#include <unistd.h>

#include <cstdio>
#include <utility>

namespace strata::cli {

progress_bar::progress_bar() : has_terminal_(::isatty(STDERR_FILENO) == 1) {}

void progress_bar::clear() {
  if (std::exchange(is_shown_, false)) fmt::print(stderr, "\r\x1b[K");
}

void progress_bar::show(double part, const std::string& next) {
  constexpr std::size_t width = 30;
  const auto full = static_cast<std::size_t>(part * width);
  write(
      fmt::format("[{:#<{}}{:.<{}}] {:3.0f} %  {}", "", full, "", width - full, part * 100, next));
}

void progress_bar::show(const std::string& next) { write(next + "…"); }

void progress_bar::write(const std::string& line) {
  if (!has_terminal_) return;
  fmt::print(stderr, "\r\x1b[K{}", line);
  std::fflush(stderr);
  is_shown_ = true;
}

}  // namespace strata::cli
