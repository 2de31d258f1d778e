#include "process/child.hpp"

#include <sys/prctl.h>
#include <sys/wait.h>
#include <unistd.h>

#include <cerrno>
#include <csignal>
#include <utility>

namespace strata::process {

std::string ending::text() const {
  return signal == 0 ? "exit code " + std::to_string(exit_code)
                     : "signal " + std::to_string(signal);
}

child::child(child&& other) noexcept : id_(std::exchange(other.id_, 0)) {}

child& child::operator=(child&& other) noexcept {
  if (this == &other) return *this;
  kill();
  id_ = std::exchange(other.id_, 0);
  return *this;
}

result<std::optional<child>> child::copy() {
  const pid_t id = ::fork();
  if (id < 0) {
    return system_failure(errno, "start a process", "raise the limit of processes (ulimit -u)");
  }
  if (id == 0) return std::optional<child>();
  return std::optional<child>(child(id));
}

result<child> child::run(const std::function<int()>& work, bond bond) {
  const pid_t parent = ::getpid();
  auto copied = copy();
  if (!copied) return std::unexpected(copied.error());
  if (*copied) return std::move(**copied);
  if (bond == bond::dies_with_parent) {
    ::prctl(PR_SET_PDEATHSIG, SIGKILL);
    // The parent may have ended before the call.
    if (::getppid() != parent) ::_exit(1);
  }
  ::_exit(work());
}

ending child::wait() {
  int status = 0;
  pid_t waited = 0;
  do {
    waited = ::waitpid(id_, &status, 0);
  } while (waited < 0 && errno == EINTR);
  id_ = 0;
  // If SIGCHLD is ignored, the exit status of a child is unknown.
  if (waited < 0) return {.exit_code = 1, .signal = 0};
  if (WIFSIGNALED(status)) return {.exit_code = 0, .signal = WTERMSIG(status)};
  return {.exit_code = WEXITSTATUS(status), .signal = 0};
}

void child::kill() {
  if (id_ == 0) return;
  ::kill(id_, SIGKILL);
  (void)wait();
}

}  // namespace strata::process
