#include "cli/daemon_client/silence.hpp"

#include <fmt/format.h>
#include <sys/socket.h>

#include <fstream>
#include <iterator>

namespace strata::cli {

namespace {

/// The process that listens; 0 if it cannot be known, because it is remote or in another container.
pid_t pid_behind(int fd) {
  ucred peer{};
  socklen_t size = sizeof peer;
  const bool is_known = ::getsockopt(fd, SOL_SOCKET, SO_PEERCRED, &peer, &size) == 0;
  return is_known ? peer.pid : 0;
}

/// The state from /proc/PID/stat, behind the name in parentheses, which may contain parentheses
/// too: R, S, T…
char state_of(pid_t pid) {
  std::ifstream file(fmt::format("/proc/{}/stat", pid));
  const std::string text((std::istreambuf_iterator<char>(file)), std::istreambuf_iterator<char>());
  const auto name_end = text.rfind(") ");
  return name_end == std::string::npos || name_end + 2 >= text.size() ? '?' : text[name_end + 2];
}

std::string why_silent(pid_t pid) {
  const auto state = pid > 0 ? state_of(pid) : '?';
  if (state == 'T')
    return fmt::format(": it is stopped (SIGSTOP); continue it with 'kill -CONT {}'", pid);
  if (state == 't') return ": a debugger holds it; continue it there";
  return "; it is stuck or very busy: see its log, wait longer with --timeout or STRATA_TIMEOUT, "
         "or restart it";
}

}  // namespace

refusal silent_daemon(int fd, const daemon_address& daemon, const std::string& text) {
  const auto pid = pid_behind(fd);
  const auto who = pid > 0 ? fmt::format("the daemon (pid {})", pid) : std::string("the daemon");
  const std::chrono::duration<double> waited = daemon.timeout;
  return {exit_unreachable, fmt::format("{} at {} has not answered '{}' within {} s{}", who,
                                        daemon.socket, text, waited.count(), why_silent(pid))};
}

}  // namespace strata::cli
