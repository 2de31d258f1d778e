#include "daemon/readiness.hpp"

#include <fcntl.h>
#include <fmt/format.h>
#include <sys/socket.h>
#include <sys/un.h>
#include <sys/wait.h>
#include <unistd.h>

#include <cerrno>
#include <cstdlib>
#include <cstring>

namespace strata::daemon {

namespace {

// In the process that was called: what became of the other.
[[noreturn]] void wait_for(pid_t child, unique_fd ready) {
  char told = 0;
  ssize_t got = 0;
  do {
    got = ::read(ready.get(), &told, 1);
  } while (got < 0 && errno == EINTR);
  if (got == 1) std::_Exit(0);
  int status = 0;
  while (::waitpid(child, &status, 0) < 0 && errno == EINTR) {
  }
  std::_Exit(WIFEXITED(status) ? WEXITSTATUS(status) : 1);
}

void let_go_of_the_terminal() {
  const unique_fd nothing(::open("/dev/null", O_RDWR | O_CLOEXEC));
  if (!nothing) return;
  for (const int fd : {STDIN_FILENO, STDOUT_FILENO, STDERR_FILENO}) ::dup2(nothing.get(), fd);
}

}  // namespace

result<void> readiness::detach() {
  int ends[2];
  if (::pipe2(ends, O_CLOEXEC) != 0) return system_failure(errno, "detach");
  unique_fd ready(ends[0]);
  parent_ = unique_fd(ends[1]);
  const pid_t child = ::fork();
  if (child < 0) return system_failure(errno, "detach", "raise the limit of processes (ulimit -u)");
  if (child > 0) {
    parent_.reset();
    wait_for(child, std::move(ready));
  }
  ::setsid();
  return {};
}

void readiness::tell_ready() {
  notify("READY=1\nMAINPID=" + std::to_string(::getpid()));
  if (!parent_) return;
  let_go_of_the_terminal();
  [[maybe_unused]] const auto told = ::write(parent_.get(), "r", 1);
  parent_.reset();
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
  // A manager that does not listen is no reason not to run.
  [[maybe_unused]] const auto sent =
      ::sendto(from.get(), state.data(), state.size(), MSG_NOSIGNAL | MSG_DONTWAIT,
               reinterpret_cast<const sockaddr*>(&to), size);
}

}  // namespace strata::daemon
