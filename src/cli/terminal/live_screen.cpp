#include "cli/terminal/live_screen.hpp"

#include <poll.h>
#include <termios.h>
#include <unistd.h>

#include <algorithm>
#include <csignal>
#include <cstddef>
#include <string>

#include "cli/terminal/output.hpp"
#include "cli/terminal/screen.hpp"
#include "text/readable.hpp"

namespace strata::cli {

namespace {

constexpr std::string_view enter_page = "\x1b[?1049h\x1b[?25l";
constexpr std::string_view leave_page = "\x1b[?25h\x1b[?1049l";

termios before{};
volatile std::sig_atomic_t are_keys_changed = 0;

// Uses only calls that are safe in a signal handler.
void give_back() {
  [[maybe_unused]] const auto written =
      ::write(STDOUT_FILENO, leave_page.data(), leave_page.size());
  if (are_keys_changed != 0) ::tcsetattr(STDIN_FILENO, TCSANOW, &before);
}

void end_at_once(int signal) {
  give_back();
  if (signal == SIGINT) ::_exit(exit_done);
  std::signal(signal, SIG_DFL);
  std::raise(signal);
}

// Makes keys arrive at once and unseen. Keys that stop the process are off: they would leave the
// page behind.
bool take_keys() {
  for (const int each : {SIGINT, SIGTERM, SIGHUP, SIGQUIT}) std::signal(each, end_at_once);
  if (::tcgetattr(STDIN_FILENO, &before) != 0) return false;
  auto changed = before;
  changed.c_lflag &= ~static_cast<tcflag_t>(ECHO | ICANON);
  changed.c_cc[VMIN] = 0;
  changed.c_cc[VTIME] = 0;
  changed.c_cc[VSUSP] = _POSIX_VDISABLE;
  are_keys_changed = 1;
  ::tcsetattr(STDIN_FILENO, TCSANOW, &changed);
  return true;
}

}  // namespace

live_screen::live_screen() : has_keys_(take_keys()) { print(enter_page); }

live_screen::~live_screen() {
  for (const int each : {SIGINT, SIGTERM, SIGHUP, SIGQUIT}) std::signal(each, SIG_DFL);
  give_back();
  are_keys_changed = 0;
}

void live_screen::draw(std::string_view lines) {
  const auto width = screen_width();
  std::string page = "\x1b[H";
  for (auto left = screen_height(); left > 0 && !lines.empty(); --left) {
    const auto end = std::min(lines.find('\n'), lines.size());
    page += text::shortened(lines.substr(0, end), width);
    page += left == 1 ? "\x1b[K" : "\x1b[K\r\n";
    lines.remove_prefix(std::min(end + 1, lines.size()));
  }
  print(page + "\x1b[J");
}

bool live_screen::is_quit_within(std::chrono::milliseconds time) const {
  const auto until = std::chrono::steady_clock::now() + time;
  for (;;) {
    const auto left =
        std::chrono::ceil<std::chrono::milliseconds>(until - std::chrono::steady_clock::now());
    if (left.count() <= 0) return false;
    pollfd keys{.fd = has_keys_ ? STDIN_FILENO : -1, .events = POLLIN, .revents = 0};
    if (::poll(&keys, 1, static_cast<int>(left.count())) <= 0) continue;
    char key = 0;
    // A terminal that has gone is readable, but returns nothing.
    if (::read(STDIN_FILENO, &key, 1) <= 0 || key == 'q' || key == 'Q') return true;
  }
}

}  // namespace strata::cli
