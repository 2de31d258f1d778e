#include "daemon/takeover/successor.hpp"

#include <poll.h>
#include <signal.h>
#include <spdlog/spdlog.h>
#include <sys/syscall.h>
#include <unistd.h>

#include <algorithm>
#include <climits>
#include <cstdlib>
#include <fstream>
#include <iterator>

#include "process/program.hpp"

namespace strata::daemon::takeover {

namespace {

constexpr int usual_signals[] = {SIGPIPE, SIGXFSZ, SIGUSR1, SIGUSR2, SIGALRM};
// What the service manager has said to this process alone.
constexpr const char* own_variables[] = {"WATCHDOG_PID", "LISTEN_PID", "LISTEN_FDS",
                                         "LISTEN_FDNAMES"};
constexpr std::string_view takeover_flag = "--takeover";
constexpr const char* successor_variable = "STRATA_SUCCESSOR";

}  // namespace

bool is_started_by_predecessor() {
  const bool is_set = std::getenv(successor_variable) != nullptr;
  ::unsetenv(successor_variable);
  return is_set;
}

own_command own_command::read() {
  std::string path(PATH_MAX, '\0');
  const auto size = ::readlink("/proc/self/exe", path.data(), path.size());
  if (size < 0) return {};
  path.resize(static_cast<std::size_t>(size));
  std::ifstream file("/proc/self/cmdline", std::ios::binary);
  own_command command{.program = std::move(path), .words = {}};
  for (std::string word; std::getline(file, word, '\0');) command.words.push_back(word);
  return command;
}

loop::task<> successor::run() {
  if (process_) co_return;
  if (command_.words.empty()) {
    spdlog::error(
        "SIGUSR2: cannot start another daemon, since /proc does not say how this one was "
        "started; start it by hand, with --takeover");
    co_return;
  }
  auto words = command_.words;
  words.front() = command_.program;
  if (std::ranges::find(words, takeover_flag) == words.end()) words.emplace_back(takeover_flag);
  std::vector<std::string> environment(std::begin(own_variables), std::end(own_variables));
  environment.push_back(std::string(successor_variable) + "=1");
  auto started = process::start({.words = std::move(words),
                                 .environment = std::move(environment),
                                 .usual_signals = usual_signals});
  if (!started) {
    spdlog::error("{}; this daemon goes on", describe(started.error()));
    co_return;
  }
  process_ = std::move(*started);
  spdlog::info("SIGUSR2: process {} was started to take over", process_.id());
  const auto handle = loop_.adopt(static_cast<int>(::syscall(SYS_pidfd_open, process_.id(), 0U)));
  loop::awaited_request ended;
  loop_.poll(handle, POLLIN, ended);
  (void)co_await ended;
  const auto id = process_.id();
  const auto ending = process_.wait();
  // It leaves another process behind, which takes over.
  if (!ending.is_success()) {
    spdlog::error("process {}, which was to take over, has ended with {}; this daemon goes on", id,
                  ending.text());
  }
}

}  // namespace strata::daemon::takeover
