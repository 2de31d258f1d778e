#include "cli/terminal/secret.hpp"

#include <fcntl.h>
#include <termios.h>
#include <unistd.h>

#include <cerrno>
#include <cstdlib>
#include <optional>
#include <string_view>

#include "strata/base/unique_fd.hpp"

namespace strata::cli {

namespace {

void say(int terminal, std::string_view text) {
  // Without its prompt the terminal still takes the secret.
  [[maybe_unused]] const auto written = ::write(terminal, text.data(), text.size());
}

// One letter; nullopt at the end.
result<std::optional<char>> read_letter(int fd) {
  for (char letter = 0;;) {
    const auto got = ::read(fd, &letter, 1);
    if (got < 0 && errno == EINTR) continue;
    if (got < 0) return system_failure(errno, "read a secret");
    return got == 0 ? std::nullopt : std::optional(letter);
  }
}

result<std::string> read_line(int fd) {
  for (std::string line;;) {
    const auto letter = read_letter(fd);
    if (!letter) return std::unexpected(letter.error());
    if (!*letter || **letter == '\n') return line;
    line += **letter;
  }
}

// A terminal that shows nothing of what is typed, and hands over each key at once: Ctrl-C as a
// signal would end this process and leave the terminal silent.
class silent_terminal {
 public:
  explicit silent_terminal(int fd) : fd_(fd) {
    ::tcgetattr(fd_, &before_);
    auto silent = before_;
    silent.c_lflag &= ~static_cast<tcflag_t>(ECHO | ISIG | ICANON);
    silent.c_cc[VMIN] = 1;
    silent.c_cc[VTIME] = 0;
    ::tcsetattr(fd_, TCSAFLUSH, &silent);
  }
  silent_terminal(const silent_terminal&) = delete;
  silent_terminal& operator=(const silent_terminal&) = delete;
  ~silent_terminal() {
    ::tcsetattr(fd_, TCSAFLUSH, &before_);
    say(fd_, "\n");
  }

  result<std::string> read() {
    for (std::string line;;) {
      const auto letter = read_letter(fd_);
      if (!letter) return std::unexpected(letter.error());
      if (!*letter || is(**letter, VINTR) || is(**letter, VEOF)) {
        return failure(errc::canceled, "read a secret from the terminal");
      }
      if (**letter == '\n') return line;
      if (is(**letter, VKILL)) {
        line.clear();
      } else if (!is(**letter, VERASE)) {
        line += **letter;
      } else if (!line.empty()) {
        line.pop_back();
      }
    }
  }

 private:
  [[nodiscard]] bool is(char letter, std::size_t key) const {
    return static_cast<cc_t>(letter) == before_.c_cc[key];
  }

  int fd_;
  termios before_{};
};

}  // namespace

result<std::string> read_secret(const secret_source& from) {
  if (from.descriptor) {
    return read_line(*from.descriptor);
  }
  if (const char* const held = std::getenv(from.variable.c_str()); held != nullptr) {
    return std::string(held);
  }
  const unique_fd terminal(::open("/dev/tty", O_RDWR | O_NOCTTY | O_CLOEXEC));
  if (!terminal) {
    return failure(errc::not_found, "ask for the " + from.prompt, "there is no terminal to ask on",
                   "set " + from.variable);
  }
  // Silent before it asks: what is typed at once must not be lost.
  silent_terminal silent(terminal.get());
  say(terminal.get(), from.prompt + ": ");
  return silent.read();
}

}  // namespace strata::cli
