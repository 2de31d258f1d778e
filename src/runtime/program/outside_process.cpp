#include "runtime/program/outside_process.hpp"

#include <fmt/format.h>
#include <poll.h>
#include <sys/syscall.h>
#include <unistd.h>

#include <cerrno>
#include <csignal>
#include <limits>
#include <utility>

#include "process/start_time.hpp"
#include "runtime/program/probe.hpp"
#include "text/number.hpp"

namespace strata::runtime::program {

result<process_identity> read_identity(std::string_view text) {
  const auto mark = text.find('@');
  const auto id = text::number_in<pid_t>(text.substr(0, mark));
  const auto ticks = mark == std::string_view::npos
                         ? std::optional<std::uint64_t>(0)
                         : text::number_in<std::uint64_t>(text.substr(mark + 1));
  if (!id || *id <= 0 || !ticks) {
    return failure(errc::invalid_argument, fmt::format("attach to the process '{}'", text),
                   "it is not a process id", "write --pid 1234");
  }
  return process_identity{.id = *id, .start_ticks = *ticks};
}

std::string outside_process::condition() const {
  if (!options_.alive.empty()) return options_.alive;
  return options_.pid.empty() ? "port" : "";
}

pid_t outside_process::process_id() const {
  const auto identity = read_identity(options_.pid);
  return is_watched_ && identity ? identity->id : 0;
}

result<void> outside_process::open_process() {
  const auto identity = read_identity(options_.pid);
  if (!identity) return std::unexpected(identity.error());
  const auto operation = fmt::format("attach to process {}", identity->id);
  const int handle = static_cast<int>(::syscall(SYS_pidfd_open, identity->id, 0U));
  if (handle < 0) return system_failure(errno, operation, "'ps' lists the processes");
  process_ = loop_.adopt(handle);
  // The descriptor is opened first, so that both speak of the same process.
  const auto ticks = process::start_ticks(identity->id);
  if (identity->start_ticks != 0 && ticks != identity->start_ticks) {
    process_ = {};
    return failure(errc::not_found, operation,
                   "that process has ended, and another one has its id now",
                   "attach again with the id of the present process");
  }
  return {};
}

loop::task<result<void>> outside_process::start() {
  if (!options_.pid.empty()) {
    if (auto opened = open_process(); !opened) co_return opened;
  }
  const auto awaited = options_.ready == "started" ? condition() : options_.ready;
  const bool is_ready = co_await becomes_ready(awaited);
  if (!is_ready) {
    co_return failure(
        errc::timed_out, fmt::format("attach to port {}", values_.port),
        fmt::format("it did not answer ({}) within {} s", awaited, options_.ready_timeout),
        "start the program that listens there, or give a longer --ready-timeout");
  }
  is_watched_ = true;
  reason_.clear();
  if (process_) tasks_.spawn(await_end());
  if (!condition().empty()) tasks_.spawn(await_failed_checks());
  co_return result<void>{};
}

loop::task<bool> outside_process::becomes_ready(std::string condition) {
  if (condition.empty()) co_return true;
  const auto limit = loop_.now() + loop::from_seconds(options_.ready_timeout);
  co_return co_await comes_to_answer(loop_, values_.port, path_of(condition), limit,
                                     [this] { return !hurried_; });
}

// The kernel makes the descriptor of a process readable when it has ended. Its exit status is known
// to its parent alone.
loop::task<> outside_process::await_end() {
  loop::awaited_request ended;
  loop_.poll(process_, POLLIN, ended);
  (void)co_await ended;
  end(fmt::format("process {} has ended", process_id()), {});
}

loop::task<> outside_process::await_failed_checks() {
  const bool has_failed = co_await fails_checks(
      loop_, options_, [this] { return answers(loop_, values_.port, path_of(condition())); },
      [this] { return is_watched_; });
  if (!has_failed) co_return;
  end(fmt::format("port {} has failed {} checks ({}) in a row", values_.port, options_.alive_limit,
                  condition()),
      {.exit_code = 1, .signal = 0});
}

void outside_process::end(std::string reason, process::ending ending) {
  if (!std::exchange(is_watched_, false)) return;
  reason_ = std::move(reason);
  ending_ = ending;
  log_.write(level::warning, reason_, subject());
  changed_.notify();
  report_end();
}

bool outside_process::signal(int number) const {
  if (!is_watched_ || !process_ || !options_.managed) return false;
  return ::syscall(SYS_pidfd_send_signal, process_.fd(), number, nullptr, 0U) == 0;
}

loop::task<> outside_process::stop(loop::time_point limit) {
  if (signal(signal_number(options_.stop_signal))) {
    const bool has_ended = co_await changed_.wait([this] { return !is_watched_; }, limit);
    if (!has_ended) {
      log_.write(level::warning,
                 fmt::format("process {} has not ended by SIG{} in time: it is killed",
                             process_id(), options_.stop_signal),
                 subject());
      signal(SIGKILL);
    }
  }
  is_watched_ = false;
}

}  // namespace strata::runtime::program
