#include "daemon/readiness.hpp"

#include <fcntl.h>
#include <sys/socket.h>
#include <sys/un.h>
#include <unistd.h>

#include <cerrno>
#include <cstdlib>
#include <cstring>

#include "process/child.hpp"
#include "process/pipe.hpp"
#include "text/number.hpp"

namespace strata::daemon {

namespace {

// In the calling process: waits for the outcome of the daemon's.
[[noreturn]] void wait_for(process::child daemon, const unique_fd& ready) {
  char letter = 0;
  ssize_t size = 0;
  do {
    size = ::read(ready.get(), &letter, 1);
  } while (size < 0 && errno == EINTR);
  if (size == 1) std::_Exit(0);
  const auto ended = daemon.wait();
  std::_Exit(ended.signal == 0 ? ended.exit_code : 1);
}

void let_go_of_the_terminal() {
  const unique_fd nothing(::open("/dev/null", O_RDWR | O_CLOEXEC));
  if (!nothing) return;
  for (const int fd : {STDIN_FILENO, STDOUT_FILENO, STDERR_FILENO}) ::dup2(nothing.get(), fd);
}

}  // namespace

result<void> readiness::detach(streams streams) {
  const auto calling = ::getpid();
  auto pipe = process::make_pipe();
  if (!pipe) return std::unexpected(pipe.error());
  auto copied = process::child::copy();
  if (!copied) return std::unexpected(copied.error());
  if (*copied) {
    pipe->write.reset();
    wait_for(std::move(**copied), pipe->read);
  }
  parent_ = std::move(pipe->write);
  parent_id_ = calling;
  streams_ = streams;
  if (streams == streams::closed) ::setsid();
  return {};
}

void readiness::report_ready() {
  // Of a main process that is not its child, systemd does not wait for the end: it would kill it in
  // the middle of a stop. Without a parent the process is a child of the service manager.
  if (parent_ && streams_ == streams::kept) end_parent();
  notify("READY=1\nMAINPID=" + std::to_string(::getpid()));
  if (!parent_) return;
  let_go_of_the_terminal();
  end_parent();
}

void readiness::end_parent() {
  [[maybe_unused]] const auto written = ::write(parent_.get(), "r", 1);
  parent_.reset();
  for (int tries = 0; ::getppid() == parent_id_ && tries < 1000; ++tries) ::usleep(1000);
}

void readiness::notify(std::string_view state) {
  const char* const where = std::getenv("NOTIFY_SOCKET");
  sockaddr_un to{};
  to.sun_family = AF_UNIX;
  if (where == nullptr || *where == '\0' || std::strlen(where) >= sizeof to.sun_path) return;
  const auto length = std::strlen(where);
  std::memcpy(to.sun_path, where, length);
  if (to.sun_path[0] == '@') to.sun_path[0] = '\0';
  const unique_fd from(::socket(AF_UNIX, SOCK_DGRAM | SOCK_CLOEXEC, 0));
  if (!from) return;
  const auto size = static_cast<socklen_t>(offsetof(sockaddr_un, sun_path) + length);
  // A manager that does not listen is no reason to stop.
  [[maybe_unused]] const auto sent =
      ::sendto(from.get(), state.data(), state.size(), MSG_NOSIGNAL | MSG_DONTWAIT,
               reinterpret_cast<const sockaddr*>(&to), size);
}

std::optional<std::chrono::microseconds> readiness::watchdog_interval() {
  const auto number_of = [](const char* variable) -> std::optional<std::int64_t> {
    const char* const value = std::getenv(variable);
    if (value == nullptr) return std::nullopt;
    return text::number_in<std::int64_t>(value);
  };
  const auto interval_us = number_of("WATCHDOG_USEC");
  if (!interval_us || *interval_us <= 0) return std::nullopt;
  const bool is_for_another =
      std::getenv("WATCHDOG_PID") != nullptr && number_of("WATCHDOG_PID") != ::getpid();
  if (is_for_another) return std::nullopt;
  return std::chrono::microseconds(*interval_us);
}

}  // namespace strata::daemon
