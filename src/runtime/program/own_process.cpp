#include "runtime/program/own_process.hpp"

#include <fcntl.h>
#include <fmt/format.h>
#include <poll.h>
#include <sys/syscall.h>
#include <unistd.h>

#include <algorithm>
#include <array>
#include <cerrno>
#include <csignal>
#include <utility>

#include "process/pipe.hpp"
#include "process/program.hpp"
#include "runtime/program/launch.hpp"
#include "runtime/program/probe.hpp"
#include "text/readable.hpp"

namespace strata::runtime::program {

namespace {

// A longer line is cut, and its parts are lines.
constexpr std::size_t longest_line = 8192;
constexpr std::string_view line_prefix = "line:";
// What the daemon ignores or handles.
constexpr int usual_signals[] = {SIGPIPE, SIGINT,  SIGTERM, SIGHUP, SIGQUIT,
                                 SIGCHLD, SIGALRM, SIGUSR1, SIGUSR2};

std::string_view after(std::string_view text, std::string_view beginning) {
  return text.starts_with(beginning) ? text.substr(beginning.size()) : std::string_view();
}

}  // namespace

own_process::~own_process() {
  tasks_.cancel();
  signal(SIGKILL);
}

bool own_process::signal(int number) const {
  return is_running() && ::kill(-child_.id(), number) == 0;
}

std::string own_process::end_reason() const {
  return fmt::format("'{}' has ended with {}", options_.command, ending_.text());
}

// One socket serves all processes that follow each other.
result<void> own_process::open_notifications() {
  if (!options_.takes_notifications() || !notify_address_.empty()) return {};
  auto socket = notify_socket::open();
  if (!socket) return std::unexpected(socket.error());
  notify_address_ = socket->address();
  tasks_.spawn(take_notifications(loop_.adopt(socket->release())));
  return {};
}

result<void> own_process::spawn() {
  if (auto opened = open_notifications(); !opened) return opened;
  auto launch = launch_of(options_, values_, notify_address_);
  if (!launch) return std::unexpected(launch.error());
  const auto folder = options_.folder.empty() ? std::string("/") : options_.folder;
  if (::access(folder.c_str(), X_OK) != 0) {
    return system_failure(errno, "enter the folder '" + folder + "'");
  }
  auto pipe = process::make_pipe();
  if (!pipe) return std::unexpected(pipe.error());
  ::fcntl(pipe->read.get(), F_SETFL, O_NONBLOCK);
  const unique_fd nothing(::open("/dev/null", O_RDONLY | O_CLOEXEC));
  auto started = process::start({.words = std::move(launch->words),
                                 .input = nothing.get(),
                                 .output = pipe->write.get(),
                                 .error = pipe->write.get(),
                                 .handed_over = socket_ ? socket_.fd() : -1,
                                 .environment = std::move(launch->environment),
                                 .folder = folder,
                                 .is_leader = true,
                                 .usual_signals = usual_signals});
  if (!started) return std::unexpected(started.error());
  child_ = std::move(*started);
  user_ = launch->user;
  is_ready_ = is_stopping_ = has_signaled_ = has_shown_life_ = false;
  status_.clear();
  tasks_.spawn(read(loop_.adopt(pipe->read.release())));
  tasks_.spawn(await_end());
  return {};
}

loop::task<result<void>> own_process::start() {
  if (auto spawned = spawn(); !spawned) co_return spawned;
  log_.write(level::info, fmt::format("process {} started", child_.id()), subject());
  auto ready = co_await await_ready();
  if (!ready) co_await stop(loop_.now() + loop::from_seconds(options_.grace));
  is_ready_ = ready.has_value();
  if (is_ready_ && !options_.alive.empty()) tasks_.spawn(await_failed_checks());
  co_return ready;
}

loop::task<result<void>> own_process::await_ready() {
  const auto limit = loop_.now() + loop::from_seconds(options_.ready_timeout);
  const bool is_ready = co_await becomes_ready(limit);
  if (is_ready && is_running()) co_return result<void>{};
  if (!is_running()) {
    co_return failure(errc::connection_closed, fmt::format("start '{}'", options_.command),
                      "it has ended with " + ending_.text(), "'strata logs' shows what it said");
  }
  co_return failure(
      errc::timed_out, fmt::format("start '{}'", options_.command),
      fmt::format("it was not ready ({}) within {} s", options_.ready, options_.ready_timeout),
      "give a longer --ready-timeout, or another --ready");
}

// Waits until the process is ready, at most until it ends, or until `limit`.
loop::task<bool> own_process::becomes_ready(loop::time_point limit) {
  if (options_.ready == "started") co_return true;
  if (options_.ready == "notify" || options_.ready.starts_with(line_prefix)) {
    const bool is_over =
        co_await changed_.wait([this] { return has_signaled_ || !is_running(); }, limit);
    co_return (is_over && has_signaled_);
  }
  co_return co_await comes_to_answer(loop_, values_.port, path_of(options_.ready), limit,
                                     [this] { return is_running(); });
}

// Whoever restarts the process takes its end for a failure.
loop::task<> own_process::await_failed_checks() {
  const auto process = child_.id();
  const bool has_failed = co_await fails_checks(
      loop_, options_, [this] { return is_alive(); },
      [this, process] { return child_.id() == process && !is_stopping_; });
  if (!has_failed) co_return;
  log_.write(level::warning,
             fmt::format("process {} has failed {} checks ({}) in a row: it is killed", process,
                         options_.alive_limit, options_.alive),
             subject());
  signal(SIGKILL);
}

loop::task<bool> own_process::is_alive() {
  if (options_.alive == "notify") co_return std::exchange(has_shown_life_, false);
  co_return co_await answers(loop_, values_.port, path_of(options_.alive));
}

// The kernel makes the descriptor of a process readable when it has ended.
loop::task<> own_process::await_end() {
  const auto handle = loop_.adopt(static_cast<int>(::syscall(SYS_pidfd_open, child_.id(), 0U)));
  loop::awaited_request ended;
  loop_.poll(handle, POLLIN, ended);
  (void)co_await ended;
  // What it has started in its group ends with it.
  signal(SIGKILL);
  ending_ = child_.wait();
  log_.write(ending_.is_success() || is_stopping_ ? level::info : level::warning,
             "the process has ended with " + ending_.text(), subject());
  changed_.notify();
  // The end of one that has not become ready is the error of its start.
  if (is_ready_ && !is_stopping_) report_end();
}

loop::task<> own_process::take_notifications(loop::descriptor socket) {
  for (;;) {
    loop::awaited_request readable;
    loop_.poll(socket, POLLIN, readable);
    (void)co_await readable;
    while (auto message = take_notification(socket.fd(), user_)) take(std::move(*message));
  }
}

void own_process::take(notification message) {
  if (message.is_ready && options_.ready == "notify") has_signaled_ = true;
  if (message.is_alive) has_shown_life_ = true;
  if (message.has_status) status_ = std::move(message.status);
  changed_.notify();
}

loop::task<> own_process::read(loop::descriptor pipe) {
  std::string unfinished;
  std::array<char, 16384> piece{};
  for (;;) {
    loop::awaited_request readable;
    loop_.poll(pipe, POLLIN, readable);
    (void)co_await readable;
    const auto size = ::read(pipe.fd(), piece.data(), piece.size());
    if (size < 0 && (errno == EAGAIN || errno == EINTR)) continue;
    if (size <= 0) break;
    unfinished.append(piece.data(), static_cast<std::size_t>(size));
    std::string_view left = unfinished;
    for (auto end = left.find('\n'); end != std::string_view::npos || left.size() > longest_line;
         end = left.find('\n')) {
      const auto length = std::min(end, longest_line);
      take_line(left.substr(0, length));
      left.remove_prefix(length == end ? length + 1 : length);
    }
    unfinished.erase(0, unfinished.size() - left.size());
  }
  if (!unfinished.empty()) take_line(unfinished);
}

void own_process::take_line(std::string_view line) {
  if (line.ends_with('\r')) line.remove_suffix(1);
  const auto awaited = after(options_.ready, line_prefix);
  if (!awaited.empty() && line.contains(awaited)) {
    has_signaled_ = true;
    changed_.notify();
  }
  log_.keep(level::info, text::printable(line), subject());
}

loop::task<> own_process::stop(loop::time_point limit) {
  is_stopping_ = true;
  signal(signal_number(options_.stop_signal));
  const bool has_ended = co_await changed_.wait([this] { return !is_running(); }, limit);
  if (has_ended) co_return;
  log_.write(level::warning,
             fmt::format("process {} has not ended by SIG{} in time: it is killed", child_.id(),
                         options_.stop_signal),
             subject());
  signal(SIGKILL);
  const bool is_gone =
      co_await changed_.wait([this] { return !is_running(); }, loop::time_point::max());
  (void)is_gone;
}

}  // namespace strata::runtime::program
