#include "runtime/program/instance.hpp"

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

#include "net/connector.hpp"
#include "process/pipe.hpp"
#include "process/program.hpp"
#include "text/readable.hpp"

namespace strata::runtime::program {

using namespace std::chrono_literals;

namespace {

// A longer line is cut, and its parts are lines.
constexpr std::size_t longest_line = 8192;
constexpr auto look_interval = 50ms;
// What the daemon ignores or handles.
constexpr int usual_signals[] = {SIGPIPE, SIGINT,  SIGTERM, SIGHUP, SIGQUIT,
                                 SIGCHLD, SIGALRM, SIGUSR1, SIGUSR2};

struct signal_row {
  std::string_view name;
  int number;
};
constexpr signal_row signals[] = {{"TERM", SIGTERM}, {"INT", SIGINT},   {"QUIT", SIGQUIT},
                                  {"HUP", SIGHUP},   {"USR1", SIGUSR1}, {"USR2", SIGUSR2},
                                  {"KILL", SIGKILL}};

std::string_view after(std::string_view text, std::string_view beginning) {
  return text.starts_with(beginning) ? text.substr(beginning.size()) : std::string_view();
}

}  // namespace

int signal_number(std::string_view name) {
  const auto* const found = std::ranges::find(signals, name, &signal_row::name);
  return found == std::end(signals) ? 0 : found->number;
}

instance::instance(loop::loop& loop, const program_options& options, place_values values,
                   journal& log, end_listener on_end)
    : loop_(loop),
      options_(options),
      values_(std::move(values)),
      log_(log),
      on_end_(std::move(on_end)),
      changed_(loop) {}

instance::~instance() {
  tasks_.cancel();
  if (is_running()) signal(SIGKILL);
}

void instance::signal(int number) const {
  if (is_running()) ::kill(-child_.id(), number);
}

std::string instance::subject() const {
  return options_.instances == 1 ? "" : fmt::format("#{}", values_.instance);
}

result<std::vector<std::string>> instance::words() const {
  if (options_.shell) {
    auto line = with_places(options_.command, values_);
    if (!line) return std::unexpected(line.error());
    return std::vector<std::string>{"/bin/sh", "-c", std::move(*line)};
  }
  auto words = split_command(options_.command);
  if (!words) return words;
  for (auto& each : *words) {
    auto filled = with_places(each, values_);
    if (!filled) return std::unexpected(filled.error());
    each = std::move(*filled);
  }
  return words;
}

result<void> instance::spawn() {
  auto wanted = words();
  if (!wanted) return std::unexpected(wanted.error());
  const auto folder = options_.folder.empty() ? std::string("/") : options_.folder;
  if (::access(folder.c_str(), X_OK) != 0) {
    return system_failure(errno, "enter the folder '" + folder + "'");
  }
  auto pipe = process::make_pipe();
  if (!pipe) return std::unexpected(pipe.error());
  ::fcntl(pipe->read.get(), F_SETFL, O_NONBLOCK);
  auto nothing = unique_fd(::open("/dev/null", O_RDONLY | O_CLOEXEC));
  auto environment = options_.env;
  if (!values_.port.empty()) environment.push_back("PORT=" + values_.port);
  environment.push_back("STRATA_NAME=" + values_.name);
  environment.push_back(fmt::format("STRATA_INSTANCE={}", values_.instance));
  auto started = process::start({.words = std::move(*wanted),
                                 .input = nothing.get(),
                                 .output = pipe->write.get(),
                                 .error = pipe->write.get(),
                                 .environment = std::move(environment),
                                 .folder = folder,
                                 .is_leader = true,
                                 .usual_signals = usual_signals});
  if (!started) return std::unexpected(started.error());
  child_ = std::move(*started);
  is_stopping_ = has_said_it_ = false;
  tasks_.spawn(read(loop_.adopt(pipe->read.release())));
  tasks_.spawn(watch());
  return {};
}

loop::task<result<void>> instance::start() {
  if (auto spawned = spawn(); !spawned) co_return spawned;
  log_.write(level::info, fmt::format("process {} started", child_.id()), subject());
  auto ready = co_await await_ready();
  if (!ready) co_await stop(loop_.now() + loop::from_seconds(options_.grace));
  co_return ready;
}

loop::task<result<void>> instance::await_ready() {
  const auto limit = loop_.now() + loop::from_seconds(options_.ready_timeout);
  bool is_ready = options_.ready == "started";
  while (!is_ready && is_running() && loop_.now() < limit) {
    if (options_.ready.starts_with("line:")) {
      const bool is_over =
          co_await changed_.wait([this] { return has_said_it_ || !is_running(); }, limit);
      is_ready = is_over && has_said_it_;
    } else {
      is_ready = co_await accepts(options_.ready != "port");
      if (!is_ready) co_await loop_.sleep(look_interval);
    }
  }
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

// Whether its port accepts a connection and, if asked for, a GET of the path is answered with 2xx
// or 3xx.
loop::task<bool> instance::accepts(bool asks_for_path) {
  const auto url = net::parse_endpoint("tcp://127.0.0.1:" + values_.port);
  if (!url) co_return false;
  net::connecting how{.timeout = 1s};
  auto opened = co_await net::connect(loop_, *url, std::move(how));
  if (!opened) co_return false;
  if (!asks_for_path) co_return true;
  auto& stream = *opened->bytes;
  const auto request =
      fmt::format("GET {} HTTP/1.1\r\nHost: localhost\r\nConnection: close\r\n\r\n",
                  after(options_.ready, "http:"));
  stream.push_copy(as_bytes(request));
  std::string answer;
  while (answer.size() < 12) {
    const auto got = co_await stream.receive(loop_.now() + 1s);
    if (!got || !*got || (*got)->empty()) co_return false;
    answer += as_text((*got)->bytes());
  }
  co_return answer.starts_with("HTTP/1.") && (answer[9] == '2' || answer[9] == '3');
}

// The kernel makes the descriptor of a process readable when it has ended.
loop::task<> instance::watch() {
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
  if (!is_stopping_ && on_end_) loop_.post([this] { on_end_(*this, ending_); });
}

loop::task<> instance::read(loop::descriptor pipe) {
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

void instance::take_line(std::string_view line) {
  if (line.ends_with('\r')) line.remove_suffix(1);
  const auto awaited = after(options_.ready, "line:");
  if (!awaited.empty() && line.contains(awaited)) {
    has_said_it_ = true;
    changed_.notify();
  }
  log_.keep(level::info, text::printable(line), subject());
}

loop::task<> instance::stop(loop::time_point limit) {
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
