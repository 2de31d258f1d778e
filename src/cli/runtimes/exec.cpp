// strata exec NAME COMMAND: runs a command beside a program, with this process' standard streams.
#include <fmt/format.h>
#include <poll.h>
#include <sys/ioctl.h>
#include <termios.h>
#include <unistd.h>

#include <array>
#include <cerrno>
#include <csignal>
#include <cstdlib>
#include <nlohmann/json.hpp>
#include <optional>
#include <span>
#include <string>

#include "cli/daemon_client/control_client.hpp"
#include "cli/runtimes/rows.hpp"
#include "cli/terminal/output.hpp"
#include "proto/session_channel.hpp"
#include "text/percent.hpp"

namespace strata::cli {

using nlohmann::json;
using channel = proto::session_channel;

namespace {

constexpr std::size_t piece_size = 4096;  // of input, which is sent without waiting

volatile std::sig_atomic_t is_resized = 0;
termios usual_keys{};

// What is typed goes to the command as it is, Ctrl-C too, until this object is destroyed or a
// signal ends the process.
class raw_terminal {
 public:
  raw_terminal() {
    ::tcgetattr(STDIN_FILENO, &usual_keys);
    for (const int each : {SIGTERM, SIGHUP}) std::signal(each, give_back_and_end);
    struct sigaction action{};
    action.sa_handler = [](int) { is_resized = 1; };
    ::sigaction(SIGWINCH, &action, nullptr);
    auto raw = usual_keys;
    ::cfmakeraw(&raw);
    ::tcsetattr(STDIN_FILENO, TCSADRAIN, &raw);
  }
  raw_terminal(const raw_terminal&) = delete;
  raw_terminal& operator=(const raw_terminal&) = delete;
  ~raw_terminal() {
    ::tcsetattr(STDIN_FILENO, TCSADRAIN, &usual_keys);
    for (const int each : {SIGTERM, SIGHUP, SIGWINCH}) std::signal(each, SIG_DFL);
  }

 private:
  static void give_back_and_end(int signal) {
    ::tcsetattr(STDIN_FILENO, TCSANOW, &usual_keys);
    std::signal(signal, SIG_DFL);
    std::raise(signal);
  }
};

winsize size_of_terminal() {
  winsize size{};
  const bool is_known =
      ::ioctl(STDIN_FILENO, TIOCGWINSZ, &size) == 0 && size.ws_row > 0 && size.ws_col > 0;
  return is_known ? size : winsize{.ws_row = 24, .ws_col = 80, .ws_xpixel = 0, .ws_ypixel = 0};
}

std::string target_of(const invocation& call) {
  auto target = runtime_target(call.words[0], "exec");
  char separator = '?';
  const auto add = [&](std::string_view key, std::string_view value) {
    target += fmt::format("{}{}={}", separator, key, text::percent_encode(value));
    separator = '&';
  };
  for (const auto& word : std::span(call.words).subspan(1)) add("command", word);
  if (call.flags.contains("instance")) add("instance", call.flags.at("instance").dump());
  if (call.is_set("terminal")) {
    const char* const type = std::getenv("TERM");
    const auto size = size_of_terminal();
    add("terminal", type == nullptr || *type == '\0' ? "dumb" : type);
    add("rows", std::to_string(size.ws_row));
    add("columns", std::to_string(size.ws_col));
  }
  if (call.is_set("interactive")) add("input", "true");
  return target;
}

/// Passes on what comes and goes, until the command has ended.
class relay {
 public:
  relay(session_stream session, bool has_input)
      : session_(std::move(session)), has_input_(has_input) {}

  outcome<int> run();

 private:
  void wait();
  void send_size();
  void send_input();
  outcome<> read_input();
  outcome<> receive();
  outcome<> take(std::string_view message);

  session_stream session_;
  bool has_input_;     // more may come
  std::string piece_;  // that is to be sent next
  bool is_readable_ = false;
  bool is_writable_ = false;
  bool has_typed_ = false;
  std::optional<int> exit_;
};

std::string message_of(channel sink, std::string_view content) {
  return std::string(1, static_cast<char>(sink)).append(content);
}

void relay::wait() {
  const bool reads_input = has_input_ && piece_.empty();
  const auto output = static_cast<short>(piece_.empty() ? 0 : POLLOUT);
  std::array<pollfd, 2> watched{
      pollfd{.fd = session_.fd(), .events = static_cast<short>(POLLIN | output), .revents = 0},
      pollfd{.fd = reads_input ? STDIN_FILENO : -1, .events = POLLIN, .revents = 0}};
  const int code = ::poll(watched.data(), watched.size(), session_.has_early() ? 0 : -1);
  const bool is_told = code > 0;
  is_readable_ = session_.has_early() || (is_told && (watched[0].revents & ~POLLOUT) != 0);
  is_writable_ = is_told && (watched[0].revents & POLLOUT) != 0;
  has_typed_ = is_told && watched[1].revents != 0;
}

outcome<int> relay::run() {
  while (!session_.has_ended()) {
    if (is_resized != 0) send_size();
    wait();
    if (is_readable_) {
      if (auto received = receive(); !received) return std::unexpected(received.error());
    }
    if (is_writable_) send_input();
    if (has_typed_) {
      if (auto read = read_input(); !read) return std::unexpected(read.error());
    }
  }
  if (exit_) return *exit_;
  return refuse(exit_failed, "the daemon has ended the connection, and the command with it");
}

void relay::send_size() {
  is_resized = 0;
  const auto size = size_of_terminal();
  const json shown = {{"rows", size.ws_row}, {"columns", size.ws_col}};
  session_.send(message_of(channel::size, shown.dump()));
}

void relay::send_input() { session_.send(message_of(channel::input, std::exchange(piece_, {}))); }

outcome<> relay::read_input() {
  std::array<char, piece_size> piece{};
  const auto size = ::read(STDIN_FILENO, piece.data(), piece.size());
  if (size < 0 && errno == EINTR) return {};
  if (size < 0) return refuse(exit_failed, system_error(errno, "read standard input"));
  piece_.assign(piece.data(), static_cast<std::size_t>(size));
  if (size > 0) return {};
  has_input_ = false;
  session_.send(message_of(channel::end, message_of(channel::input, {})));
  return {};
}

outcome<> relay::receive() {
  const auto messages = session_.receive();
  if (!messages) return std::unexpected(messages.error());
  for (const auto& each : *messages) {
    if (auto taken = take(each); !taken) return taken;
  }
  return {};
}

outcome<> relay::take(std::string_view message) {
  if (message.empty()) return {};
  const auto content = message.substr(1);
  switch (static_cast<channel>(message[0])) {
    case channel::output: print(content); break;
    case channel::errors: (void)!::write(STDERR_FILENO, content.data(), content.size()); break;
    case channel::outcome: {
      const auto ending = parse_line_of_json(content);
      if (!ending) return std::unexpected(ending.error());
      const auto signal = ending->value("signal", 0);
      // As a shell does.
      exit_ = signal == 0 ? ending->value("exit_code", 0) : 128 + signal;
      break;
    }
    default: break;
  }
  return {};
}

}  // namespace

outcome<int> run_exec(const invocation& call) {
  const bool has_terminal = call.is_set("terminal");
  if (has_terminal && ::isatty(STDIN_FILENO) == 0) {
    return refuse(exit_misused,
                  "--terminal passes a terminal on, but standard input is none; leave "
                  "it out, or write -i to pass the input on");
  }
  control_client client(call.daemon);
  auto session = client.open_session(target_of(call));
  if (!session) return std::unexpected(session.error());
  std::optional<raw_terminal> raw;
  if (has_terminal) raw.emplace();
  return relay(std::move(*session), has_terminal || call.is_set("interactive")).run();
}

}  // namespace strata::cli
