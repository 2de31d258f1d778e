#include "cli/terminal/secret.hpp"

#include <fcntl.h>
#include <fmt/format.h>
#include <termios.h>
#include <unistd.h>

#include <cerrno>
#include <csignal>
#include <cstdlib>
#include <optional>
#include <string_view>

#include "options/credentials.hpp"
#include "strata/base/unique_fd.hpp"

namespace strata::cli {

namespace {

void write_text(int terminal, std::string_view text) {
  // Even if the prompt cannot be written, the secret can be read.
  [[maybe_unused]] const auto written = ::write(terminal, text.data(), text.size());
}

constexpr std::size_t longest_line = 65536;

// Reads one byte; nullopt at the end.
result<std::optional<char>> read_letter(int fd, const std::string& operation) {
  for (char letter = 0;;) {
    const auto got = ::read(fd, &letter, 1);
    if (got < 0 && errno == EINTR) continue;
    if (got < 0) return system_failure(errno, operation);
    return got == 0 ? std::nullopt : std::optional(letter);
  }
}

// Reads byte by byte, so that the rest is left for others.
result<std::string> read_line(int fd, const std::string& operation) {
  for (std::string line;;) {
    const auto letter = read_letter(fd, operation);
    if (!letter) return std::unexpected(letter.error());
    if (!*letter || **letter == '\n') {
      if (line.ends_with('\r')) line.pop_back();
      return line;
    }
    if (line.size() == longest_line) {
      return failure(errc::limit_exceeded, operation,
                     fmt::format("its first line is longer than {} bytes", longest_line),
                     "check that it is the source that holds the secret");
    }
    line += **letter;
  }
}

// A terminal that does not echo, and delivers each key at once: Ctrl-C as a signal would end this
// process and leave the terminal without echo.
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
    write_text(fd_, "\n");
  }

  result<std::string> read() {
    for (std::string line;;) {
      const auto letter = read_letter(fd_, "read a secret from the terminal");
      if (!letter) return std::unexpected(letter.error());
      is_interrupted_ = *letter && is(**letter, VINTR);
      if (!*letter || is_interrupted_ || is(**letter, VEOF)) {
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

  /// By Ctrl-C.
  [[nodiscard]] bool is_interrupted() const { return is_interrupted_; }

 private:
  [[nodiscard]] bool is(char letter, std::size_t key) const {
    return static_cast<cc_t>(letter) == before_.c_cc[key];
  }

  int fd_;
  termios before_{};
  bool is_interrupted_ = false;
};

// Switches echo off before the prompt: input typed at once must not be lost.
result<std::string> ask(int terminal, const std::string& prompt) {
  std::optional<silent_terminal> silent(terminal);
  write_text(terminal, prompt + ": ");
  auto secret = silent->read();
  const bool is_interrupted = silent->is_interrupted();
  silent.reset();
  // Raised now that the terminal is restored, with the usual effect.
  if (is_interrupted) ::raise(SIGINT);
  return secret;
}

// A secret that does not come from the arguments is checked: an empty one would leave unprotected
// what was to be protected.
result<std::string> checked(result<std::string> secret, const std::string& operation,
                            std::string remedy) {
  if (!secret) return secret;
  if (secret->empty()) {
    return failure(errc::invalid_argument, operation, "it is empty", std::move(remedy));
  }
  if (secret->contains('\0')) {
    return failure(errc::invalid_argument, operation, "it holds a byte of value 0",
                   "choose a secret that is text");
  }
  return secret;
}

result<std::string> secret_of_file(const std::string& path) {
  const auto operation = fmt::format("read a secret from '{}'", path);
  const unique_fd file(::open(path.c_str(), O_RDONLY | O_NOCTTY | O_CLOEXEC));
  if (!file) {
    return system_failure(errno, operation,
                          fmt::format("name a file that you can read, or write 'pass:@{}' if that "
                                      "text is the secret",
                                      path));
  }
  return checked(read_line(file.get(), operation), operation,
                 "write the secret into the file's first line");
}

result<std::string> secret_of_input(const std::string& flag) {
  const std::string operation = "read a secret from standard input";
  auto secret =
      ::isatty(STDIN_FILENO) == 1 ? ask(STDIN_FILENO, flag) : read_line(STDIN_FILENO, operation);
  return checked(std::move(secret), operation, "pass the secret as the first line");
}

result<std::string> secret_of_variable(const std::string& name) {
  const auto operation = fmt::format("read a secret from the variable '{}'", name);
  const char* const held = std::getenv(name.c_str());
  if (held == nullptr) {
    return failure(
        errc::not_found, operation, "it is not set",
        fmt::format("export it, or write 'pass:env:{}' if that text is the secret", name));
  }
  return checked(std::string(held), operation, "set it to the secret");
}

result<std::string> found_secret(std::string_view value, const std::string& flag) {
  constexpr std::string_view variable = "env:";
  constexpr std::string_view text = "pass:";
  if (value == "-") return secret_of_input(flag);
  if (value.starts_with('@')) return secret_of_file(std::string(value.substr(1)));
  if (value.starts_with(variable)) {
    return secret_of_variable(std::string(value.substr(variable.size())));
  }
  if (value.starts_with(text)) value.remove_prefix(text.size());
  return std::string(value);
}

}  // namespace

result<std::string> read_secret(const secret_source& source) {
  if (source.descriptor) {
    return read_line(*source.descriptor, "read a secret");
  }
  if (const char* const held = std::getenv(source.variable.c_str()); held != nullptr) {
    return std::string(held);
  }
  const unique_fd terminal(::open("/dev/tty", O_RDWR | O_NOCTTY | O_CLOEXEC));
  if (!terminal) {
    return failure(errc::not_found, "ask for the " + source.prompt,
                   "there is no terminal to ask at", "set " + source.variable);
  }
  return ask(terminal.get(), source.prompt);
}

result<std::string> named_secret(std::string_view value, const std::string& flag) {
  if (options::credential_name(value)) return std::string(value);
  auto secret = found_secret(value, flag);
  if (!secret || !options::credential_name(*secret)) return secret;
  return failure(errc::invalid_argument, "use this secret",
                 fmt::format("it begins with '{}', which marks the name of a credential",
                             options::credential_prefix),
                 "choose another secret");
}

}  // namespace strata::cli
