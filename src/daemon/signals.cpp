#include "daemon/signals.hpp"

#include <sys/signalfd.h>
#include <unistd.h>

#include <algorithm>
#include <cerrno>
#include <csignal>

namespace strata::daemon {

result<unique_fd> take_signals() {
  sigset_t heeded;
  sigemptyset(&heeded);
  for (const int each : {SIGTERM, SIGINT, SIGHUP, SIGUSR2}) sigaddset(&heeded, each);
  ::pthread_sigmask(SIG_BLOCK, &heeded, nullptr);
  // Exceeding RLIMIT_FSIZE is reported as an error of the write; the others have no meaning here.
  for (const int ignored : {SIGPIPE, SIGXFSZ, SIGUSR1, SIGALRM}) {
    ::signal(ignored, SIG_IGN);
  }
  unique_fd signals(::signalfd(-1, &heeded, SFD_CLOEXEC | SFD_NONBLOCK));
  if (!signals) return system_failure(errno, "wait for signals");
  return signals;
}

void heed_no_more_endings() {
  ::signal(SIGTERM, SIG_DFL);
  ::signal(SIGINT, SIG_DFL);
  sigset_t ending;
  sigemptyset(&ending);
  sigaddset(&ending, SIGTERM);
  sigaddset(&ending, SIGINT);
  ::pthread_sigmask(SIG_UNBLOCK, &ending, nullptr);
}

void limit_ending(double drain_timeout_s) {
  constexpr double longest = 1e6;
  ::signal(SIGALRM, SIG_DFL);
  ::alarm(static_cast<unsigned>(std::min(drain_timeout_s, longest)) + 10);
}

}  // namespace strata::daemon
