#include "process/keeper.hpp"

#include <fcntl.h>
#include <poll.h>
#include <sys/prctl.h>
#include <sys/signalfd.h>
#include <sys/socket.h>
#include <sys/stat.h>
#include <sys/syscall.h>
#include <sys/wait.h>
#include <unistd.h>

#include <algorithm>
#include <array>
#include <cerrno>
#include <chrono>
#include <csignal>
#include <cstdlib>
#include <cstring>
#include <fstream>
#include <optional>
#include <span>
#include <string>
#include <utility>

#include "process/child.hpp"
#include "process/packet.hpp"
#include "process/pipe.hpp"
#include "process/start_time.hpp"
#include "strata/base/unique_fd.hpp"

namespace strata::process {

namespace {

using keeper_clock = std::chrono::steady_clock;

constexpr std::size_t most_daemons = 4;
// Against processes that multiply while they are being killed.
constexpr int most_rounds = 1000;
// How often a keeper without a daemon checks whether its socket's file is still there.
constexpr auto file_check_interval = std::chrono::seconds(10);

/// The arguments, in their order; the words of the program follow them.
enum keeper_argument : int {
  search_path_argument = 2,
  stop_signal_argument,
  grace_argument,
  name_argument,
  note_argument,
  first_word_argument,
};

class keeper {
 public:
  explicit keeper(char** arguments);

  int run(std::span<char*> arguments);

 private:
  /// Return the errno of a failure, or 0; then the program does not run.
  int start(char** words, const char* search_path);
  int open_signals();
  void use_title(std::span<char*> arguments) const;
  void take_signals();
  void reap();
  void end_rest() const;
  void end_program();
  void accept();
  void greet(const unique_fd& connection) const;
  void report_end(const unique_fd& connection) const;
  void take_order(unique_fd& connection);
  void remove_file() const;
  [[nodiscard]] bool has_daemon() const;
  [[nodiscard]] bool has_file() const;
  [[nodiscard]] bool is_over() const;
  [[nodiscard]] int wait_limit_ms() const;
  void wait();

  std::string name_;
  std::string note_;
  int stop_signal_;
  std::chrono::milliseconds grace_;
  unique_fd socket_, output_, folder_, listener_, notifications_;
  std::array<unique_fd, most_daemons> daemons_;
  struct stat file_{};
  unique_fd signals_;
  pid_t program_ = 0;
  unique_fd handle_;  // pidfd of the program
  bool is_ready_ = false;
  bool is_ending_ = false;  // its end has been ordered
  bool is_killed_ = false;
  bool is_acknowledged_ = false;
  keeper_clock::time_point kill_at_;
  std::optional<ending> ending_;
  bool is_reaped_ = false;
};

// A descriptor that this process was started with; none if it was not given.
unique_fd inherited(int number) {
  if (::fcntl(number, F_GETFD) < 0) return {};
  if (number != handed_over_socket) ::fcntl(number, F_SETFD, FD_CLOEXEC);
  return unique_fd(number);
}

keeper::keeper(char** arguments)
    : name_(arguments[name_argument]),
      note_(arguments[note_argument]),
      stop_signal_(static_cast<int>(std::strtol(arguments[stop_signal_argument], nullptr, 10))),
      grace_(std::strtoll(arguments[grace_argument], nullptr, 10)),
      socket_(inherited(handed_over_socket)),
      output_(inherited(program_output)),
      folder_(inherited(socket_folder)),
      listener_(inherited(keeper_listener)),
      notifications_(inherited(notification_socket)) {
  daemons_[0] = inherited(daemon_connection);
  if (folder_) ::fstatat(folder_.get(), name_.c_str(), &file_, AT_SYMLINK_NOFOLLOW);
}

// Becomes the program, or reports the errno of the failure. `search_path`: the daemon's PATH, by
// which the program is looked up, whatever its own is.
[[noreturn]] void become(char** words, const char* search_path, pid_t parent, int failures) {
  ::setsid();
  // Without a keeper nobody could find the program.
  ::prctl(PR_SET_PDEATHSIG, SIGKILL);
  if (::getppid() != parent) ::_exit(1);
  auto path = std::string("PATH=") + search_path;
  std::array<char*, 2> search{*search_path == '\0' ? nullptr : path.data(), nullptr};
  char** const environment = std::exchange(::environ, search.data());
  ::execvpe(words[0], words, environment);
  const int code = errno;
  [[maybe_unused]] const auto size = ::write(failures, &code, sizeof code);
  ::_exit(1);
}

int keeper::start(char** words, const char* search_path) {
  auto failures = make_pipe();
  if (!failures) return failures.error().sys_errno;
  ::prctl(PR_SET_CHILD_SUBREAPER, 1);
  const pid_t parent = ::getpid();
  program_ = ::fork();
  if (program_ < 0) return errno;
  if (program_ == 0) become(words, search_path, parent, failures->write.get());
  failures->write.reset();
  int code = 0;
  if (::read(failures->read.get(), &code, sizeof code) == sizeof code) return code;
  handle_.reset(static_cast<int>(::syscall(SYS_pidfd_open, program_, 0U)));
  if (handle_) return 0;
  code = errno;
  ::kill(-program_, SIGKILL);
  return code;
}

int keeper::open_signals() {
  sigset_t all;
  ::sigfillset(&all);
  ::sigprocmask(SIG_BLOCK, &all, nullptr);
  sigset_t taken;
  ::sigemptyset(&taken);
  ::sigaddset(&taken, SIGCHLD);
  ::sigaddset(&taken, SIGTERM);
  signals_.reset(::signalfd(-1, &taken, SFD_CLOEXEC | SFD_NONBLOCK));
  if (signals_) return 0;
  const int code = errno;
  ::kill(-program_, SIGKILL);
  return code;
}

// What looks for the program by its words must not find the keeper.
void keeper::use_title(std::span<char*> arguments) const {
  ::prctl(PR_SET_NAME, "strata-keeper");
  char* const begin = arguments.front();
  const auto room =
      static_cast<std::size_t>(arguments.back() + std::strlen(arguments.back()) - begin);
  std::memset(begin, 0, room);
  const auto title = "strata-keeper " + name_;
  std::copy_n(title.data(), std::min(title.size(), room), begin);
}

void keeper::take_signals() {
  signalfd_siginfo signal{};
  while (::read(signals_.get(), &signal, sizeof signal) == sizeof signal) {
    if (signal.ssi_signo == SIGTERM) end_program();
  }
}

// The program itself stays a zombie as long as a daemon may send signals to it: no other process
// gets its id.
void keeper::reap() {
  while (!ending_ || is_reaped_) {
    siginfo_t child{};
    if (::waitid(P_ALL, 0, &child, WEXITED | WNOHANG | WNOWAIT) != 0 || child.si_pid == 0) return;
    if (is_reaped_ || child.si_pid != program_) {
      ::waitpid(child.si_pid, nullptr, WNOHANG);
      continue;
    }
    // What it has started ends with it: the next program needs its port.
    ::kill(-program_, SIGKILL);
    end_rest();
    const bool is_exit = child.si_code == CLD_EXITED;
    ending_ =
        ending{.exit_code = is_exit ? child.si_status : 0, .signal = is_exit ? 0 : child.si_status};
    for (const auto& each : daemons_) report_end(each);
  }
}

// The children of this process are those that have left the program's group and lost their parent.
// Each that ends leaves its own children here.
void keeper::end_rest() const {
  const auto path = "/proc/self/task/" + std::to_string(::getpid()) + "/children";
  bool is_one_left = true;
  for (int round = 0; round < most_rounds && std::exchange(is_one_left, false); ++round) {
    std::ifstream children(path);
    for (pid_t child = 0; children >> child;) {
      // A program that changes its user may not be killed by this one.
      if (child == program_ || ::kill(child, SIGKILL) != 0) continue;
      is_one_left = ::waitpid(child, nullptr, 0) == child;
    }
  }
}

void keeper::end_program() {
  if (std::exchange(is_ending_, true) || ending_) return;
  ::kill(-program_, stop_signal_);
  kill_at_ = keeper_clock::now() + grace_;
}

void keeper::accept() {
  unique_fd connection(::accept4(listener_.get(), nullptr, nullptr, SOCK_CLOEXEC | SOCK_NONBLOCK));
  if (!connection) return;
  const auto peer = peer_of(connection.get());
  auto* const place = std::ranges::find_if_not(daemons_, &unique_fd::operator bool);
  if (!peer || peer->user != ::geteuid() || place == daemons_.end()) return;
  *place = std::move(connection);
  greet(*place);
  if (ending_) report_end(*place);
}

// A daemon that has only given an order is gone already.
void keeper::greet(const unique_fd& connection) const {
  const auto as_bool = [](bool value) { return value ? "true" : "false"; };
  const auto text =
      std::string("{\"protocol\":") + std::to_string(keeper_protocol) +
      ",\"keeper\":" + std::to_string(::getpid()) + ",\"process\":" + std::to_string(program_) +
      ",\"start_ticks\":" + std::to_string(start_ticks(program_).value_or(0)) +
      ",\"is_ready\":" + as_bool(is_ready_) +
      ",\"has_notifications\":" + as_bool(static_cast<bool>(notifications_)) +
      ",\"has_socket\":" + as_bool(static_cast<bool>(socket_)) + ",\"note\":" + note_ + "}";
  std::array<int, most_packet_descriptors> descriptors{output_.get(), handle_.get()};
  std::size_t count = 2;
  for (const auto* each : {&notifications_, &socket_}) {
    if (*each) descriptors[count++] = each->get();
  }
  send_packet(connection.get(), text, std::span(descriptors).first(count));
}

void keeper::report_end(const unique_fd& connection) const {
  if (!connection) return;
  send_packet(connection.get(), "{\"exit_code\":" + std::to_string(ending_->exit_code) +
                                    ",\"signal\":" + std::to_string(ending_->signal) + "}");
}

void keeper::take_order(unique_fd& connection) {
  for (;;) {
    const auto received = receive_packet(connection.get());
    if (!received) return connection.reset();
    if (!*received) return;
    const auto& text = (*received)->text;
    switch (static_cast<keeper_order>(text.empty() ? '\0' : text.front())) {
      case keeper_order::note_ready: is_ready_ = true; break;
      case keeper_order::end: end_program(); break;
      case keeper_order::acknowledge: is_acknowledged_ = ending_.has_value(); break;
    }
  }
}

bool keeper::has_daemon() const { return std::ranges::any_of(daemons_, &unique_fd::operator bool); }

bool keeper::has_file() const {
  struct stat present{};
  return folder_ && ::fstatat(folder_.get(), name_.c_str(), &present, AT_SYMLINK_NOFOLLOW) == 0 &&
         present.st_dev == file_.st_dev && present.st_ino == file_.st_ino;
}

// A daemon that acknowledges the end has removed the file: there may be another one by now.
void keeper::remove_file() const {
  if (!is_acknowledged_ && has_file()) ::unlinkat(folder_.get(), name_.c_str(), 0);
}

bool keeper::is_over() const {
  return ending_ && (is_acknowledged_ || (is_ending_ && !has_daemon()));
}

int keeper::wait_limit_ms() const {
  using std::chrono::milliseconds;
  const bool is_awaiting_end = is_ending_ && !ending_ && !is_killed_;
  if (is_awaiting_end) {
    const auto left = std::chrono::ceil<milliseconds>(kill_at_ - keeper_clock::now());
    return static_cast<int>(std::clamp<std::int64_t>(left.count(), 0, 1'000'000));
  }
  return has_daemon() ? -1 : static_cast<int>(milliseconds(file_check_interval).count());
}

void keeper::wait() {
  std::array<pollfd, most_daemons + 2> events{};
  events[0] = {.fd = signals_.get(), .events = POLLIN, .revents = 0};
  events[1] = {.fd = listener_.get(), .events = POLLIN, .revents = 0};
  for (std::size_t i = 0; i < most_daemons; ++i) {
    events[i + 2] = {.fd = daemons_[i].get(), .events = POLLIN, .revents = 0};
  }
  (void)::poll(events.data(), events.size(), wait_limit_ms());
  for (std::size_t i = 0; i < most_daemons; ++i) {
    if (events[i + 2].revents != 0) take_order(daemons_[i]);
  }
  if (events[1].revents != 0) accept();
  take_signals();
  reap();
  if (is_ending_ && !ending_ && !is_killed_ && keeper_clock::now() >= kill_at_) {
    is_killed_ = true;
    ::kill(-program_, SIGKILL);
  }
  if (has_daemon()) return;
  if (!has_file()) end_program();
  // Nobody sends signals to the program any more.
  if (ending_ && !std::exchange(is_reaped_, true)) ::waitpid(program_, nullptr, WNOHANG);
}

int keeper::run(std::span<char*> arguments) {
  int code = start(arguments.data() + first_word_argument, arguments[search_path_argument]);
  if (code == 0) code = open_signals();
  if (code != 0) {
    remove_file();
    send_packet(daemons_[0].get(), "{\"error\":" + std::to_string(code) + "}");
    return 1;
  }
  use_title(arguments);
  // Its working directory and its copies of the program's descriptors would hold what is theirs.
  [[maybe_unused]] const int left = ::chdir("/");
  ::dup2(STDIN_FILENO, STDOUT_FILENO);
  ::dup2(STDIN_FILENO, STDERR_FILENO);
  if (listener_) ::listen(listener_.get(), most_daemons);
  greet(daemons_[0]);
  reap();  // it may have ended before its signal was awaited
  while (!is_over()) wait();
  remove_file();
  while (::waitpid(-1, nullptr, WNOHANG) > 0) {
  }
  return 0;
}

}  // namespace

bool is_keeper(int count, char** arguments) {
  return count > first_word_argument && keeper_word == arguments[1];
}

int run_keeper(int count, char** arguments) {
  return keeper(arguments).run({arguments, static_cast<std::size_t>(count)});
}

}  // namespace strata::process
