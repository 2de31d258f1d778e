#include "cli/terminal/output.hpp"

#include <unistd.h>

#include <cerrno>
#include <cstdlib>
#include <string>

#include "cli/line/outcome.hpp"
#include "text/readable.hpp"

namespace strata::cli {

namespace {

/// Returns 0, or the errno that stopped it.
int write_all(int fd, std::string_view text) {
  while (!text.empty()) {
    const auto written = ::write(fd, text.data(), text.size());
    if (written < 0 && errno == EINTR) continue;
    if (written < 0) return errno;
    text.remove_prefix(static_cast<std::size_t>(written));
  }
  return 0;
}

}  // namespace

void print(std::string_view text) {
  const int failed = write_all(STDOUT_FILENO, text);
  if (failed == 0) return;
  if (failed == EPIPE) ::_exit(exit_done);
  complain(describe(system_error(failed, "write to standard output")));
  ::_exit(exit_failed);
}

void complain(std::string_view message) {
  // A message that cannot be written is lost.
  (void)write_all(STDERR_FILENO, "strata: " + text::printable(message) + "\n");
}

void complain_in_lines(std::string_view message) {
  text::line_splitter splitter;
  auto lines = splitter.feed(message);
  for (auto& last : splitter.finish()) lines.push_back(std::move(last));
  std::string shown;
  for (const auto& each : lines) {
    const bool is_inside = each.starts_with('\t') || each.starts_with(' ');
    shown += shown.empty() ? "strata: " : is_inside ? "" : "  ";
    shown += text::printable(each) + "\n";
  }
  (void)write_all(STDERR_FILENO, shown);
}

}  // namespace strata::cli
