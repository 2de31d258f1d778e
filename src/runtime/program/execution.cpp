#include "runtime/program/execution.hpp"

#include <fcntl.h>
#include <fmt/format.h>
#include <fmt/ranges.h>
#include <poll.h>
#include <sys/syscall.h>
#include <unistd.h>

#include <array>
#include <cerrno>
#include <csignal>
#include <nlohmann/json.hpp>
#include <optional>
#include <utility>

#include "loop/condition.hpp"
#include "loop/task_group.hpp"
#include "process/pipe.hpp"
#include "process/program.hpp"
#include "proto/session_channel.hpp"
#include "runtime/program/launch.hpp"
#include "text/json_text.hpp"
#include "text/readable.hpp"

namespace strata::runtime::program {

using namespace std::chrono_literals;
using channel = proto::session_channel;

namespace {

constexpr std::size_t most_unsent = 256U << 10U;  // bytes that the caller has not received
constexpr auto farewell_limit = 5s;               // for the caller to receive the rest
constexpr char end_of_input = 4;                  // VEOF of a terminal (termios(3))

/// One side's ends of what the command reads and writes.
struct command_ends {
  unique_fd input;
  unique_fd output;
  unique_fd errors;
};

struct command_streams {
  command_ends own;
  command_ends others;   ///< the command's
  std::string terminal;  ///< in place of those
};

void never_wait(const unique_fd& end) { ::fcntl(end.get(), F_SETFL, O_NONBLOCK); }

result<command_streams> open_terminal(const execution_order& order, uid_t user) {
  auto opened = process::open_pseudo_terminal(user, order.size);
  if (!opened) return std::unexpected(opened.error());
  command_streams made;
  // A descriptor of its own, since the loop waits for one thing at a time on each.
  made.own.input = unique_fd(::fcntl(opened->side.get(), F_DUPFD_CLOEXEC, 0));
  if (!made.own.input) return system_failure(errno, "copy a pseudo-terminal");
  made.own.output = std::move(opened->side);
  made.terminal = std::move(opened->path);
  return made;
}

result<command_streams> open_pipes(bool takes_input) {
  command_streams made;
  for (auto [own, other] : {std::pair(&made.own.output, &made.others.output),
                            std::pair(&made.own.errors, &made.others.errors)}) {
    auto pipe = process::make_pipe();
    if (!pipe) return std::unexpected(pipe.error());
    never_wait(pipe->read);
    *own = std::move(pipe->read);
    *other = std::move(pipe->write);
  }
  if (!takes_input) {
    made.others.input = unique_fd(::open("/dev/null", O_RDONLY | O_CLOEXEC));
    if (!made.others.input) return system_failure(errno, "open /dev/null");
    return made;
  }
  auto pipe = process::make_pipe();
  if (!pipe) return std::unexpected(pipe.error());
  never_wait(pipe->write);
  made.own.input = std::move(pipe->write);
  made.others.input = std::move(pipe->read);
  return made;
}

std::optional<process::terminal_size> parse_size(byte_span text) {
  const auto size = text::parse_json(as_text(text), "read a terminal's size");
  if (!size || !size->is_object()) return std::nullopt;
  const auto at = [&size](const char* key) {
    const auto found = size->find(key);
    const bool is_whole = found != size->end() && found->is_number_unsigned();
    const auto number = is_whole ? found->get<std::uint64_t>() : 0;
    return number <= UINT16_MAX ? static_cast<std::uint16_t>(number) : std::uint16_t(0);
  };
  const process::terminal_size read{.rows = at("rows"), .columns = at("columns")};
  if (read.rows == 0 || read.columns == 0) return std::nullopt;
  return read;
}

class execution final : public session {
 public:
  execution(const context& context, process::child child, command_ends ends, bool is_terminal,
            loop::duration grace)
      : loop_(context.home),
        log_(context.log),
        child_(std::move(child)),
        id_(child_.id()),
        handle_(loop_.adopt(static_cast<int>(::syscall(SYS_pidfd_open, id_, 0U)))),
        input_(adopt(std::move(ends.input))),
        output_(adopt(std::move(ends.output))),
        errors_(adopt(std::move(ends.errors))),
        is_terminal_(is_terminal),
        grace_(grace),
        changed_(loop_) {}
  execution(const execution&) = delete;
  execution& operator=(const execution&) = delete;
  ~execution() override {
    if (child_) ::kill(-id_, SIGKILL);
  }

  loop::task<> hold(net::message_port& caller) override;
  void end() override {
    has_caller_left_ = true;
    changed_.notify();
  }

 private:
  loop::descriptor adopt(unique_fd end) {
    return end ? loop_.adopt(end.release()) : loop::descriptor();
  }
  loop::task<> listen(net::message_port& caller);
  /// Waits until the command has read its input, or has ended.
  loop::task<> input_taken();
  loop::task<> await_end();
  loop::task<> write_input();
  loop::task<> read(const loop::descriptor& source, channel sink, net::message_port& caller);
  enum class found : std::uint8_t { nothing_yet, nothing };
  loop::task<found> pass_on(const loop::descriptor& source, channel sink,
                            net::message_port& caller) const;
  loop::task<> end_command();
  void take(byte_span message);
  void close_input();
  static void offer(net::message_port& caller, channel sink, std::string_view bytes);

  loop::loop& loop_;
  std::shared_ptr<journal> log_;
  process::child child_;  // none once it has ended
  pid_t id_;
  loop::descriptor handle_;
  loop::descriptor input_;  // none once it is closed
  loop::descriptor output_;
  loop::descriptor errors_;
  bool is_terminal_;
  loop::duration grace_;
  std::string waiting_;  // input that the command has not read
  bool is_input_complete_ = false;
  bool has_caller_left_ = false;
  process::ending ending_;
  loop::condition changed_;
};

void execution::offer(net::message_port& caller, channel sink, std::string_view bytes) {
  std::string message(1, static_cast<char>(sink));
  message += bytes;
  // Without room the caller has left.
  (void)caller.offer(as_bytes(message));
}

loop::task<> execution::hold(net::message_port& caller) {
  loop::task_group tasks;
  tasks.spawn(listen(caller));
  tasks.spawn(await_end());
  if (input_) tasks.spawn(write_input());
  loop::task_group readers;
  readers.spawn(read(output_, channel::output, caller));
  if (errors_) readers.spawn(read(errors_, channel::errors, caller));
  const auto is_over = [this] { return !child_ || has_caller_left_; };
  const bool is_at_end = co_await changed_.wait(is_over);
  if (!is_at_end) co_return;
  if (child_) {
    co_await end_command();
    co_return;
  }
  // What other processes hold open is not waited for, but what is there is passed on.
  readers.cancel();
  (void)co_await pass_on(output_, channel::output, caller);
  if (errors_) (void)co_await pass_on(errors_, channel::errors, caller);
  offer(caller, channel::outcome,
        nlohmann::json{{"exit_code", ending_.exit_code}, {"signal", ending_.signal}}.dump());
  caller.end();
  const auto limit = loop_.now() + farewell_limit;
  const bool has_left = co_await changed_.wait([this] { return has_caller_left_; }, limit);
  (void)has_left;
}

loop::task<> execution::listen(net::message_port& caller) {
  net::message_port::receiver receiver{.on_bytes = [](std::size_t) {},
                                       .on_message = [this](byte_span message) { take(message); },
                                       .on_trouble = [](const error&, bool) {},
                                       .on_notice = {},
                                       .room = [this] { return input_taken(); }};
  const auto reason = co_await caller.receive(std::move(receiver));
  (void)reason;
  end();
}

loop::task<> execution::input_taken() {
  const bool is_taken = co_await changed_.wait([this] { return waiting_.empty() || !child_; });
  (void)is_taken;
}

void execution::take(byte_span message) {
  if (message.empty()) return;
  const auto content = message.subspan(1);
  switch (static_cast<channel>(message[0])) {
    case channel::input:
      if (!is_input_complete_) waiting_ += as_text(content);
      break;
    case channel::size:
      if (const auto size = parse_size(content); size && is_terminal_) {
        process::resize(output_.fd(), *size);
      }
      break;
    case channel::end:
      is_input_complete_ = true;
      if (is_terminal_) waiting_ += end_of_input;
      break;
    default: break;
  }
  changed_.notify();
}

loop::task<> execution::write_input() {
  for (;;) {
    const bool has_input =
        co_await changed_.wait([this] { return !waiting_.empty() || is_input_complete_; });
    if (!has_input) co_return;
    if (waiting_.empty()) break;
    loop::awaited_request writable;
    loop_.poll(input_, POLLOUT, writable);
    (void)co_await writable;
    const auto size = ::write(input_.fd(), waiting_.data(), waiting_.size());
    if (size < 0 && (errno == EAGAIN || errno == EINTR)) continue;
    if (size < 0) break;  // nobody reads it any more
    waiting_.erase(0, static_cast<std::size_t>(size));
    changed_.notify();
  }
  close_input();
}

void execution::close_input() {
  is_input_complete_ = true;
  waiting_.clear();
  input_ = {};
  changed_.notify();
}

loop::task<> execution::read(const loop::descriptor& source, channel sink,
                             net::message_port& caller) {
  for (auto last = found::nothing_yet; last != found::nothing;) {
    loop::awaited_request readable;
    loop_.poll(source, POLLIN, readable);
    (void)co_await readable;
    last = co_await pass_on(source, sink, caller);
  }
}

/// Passes on what is there now, as fast as the caller receives it.
loop::task<execution::found> execution::pass_on(const loop::descriptor& source, channel sink,
                                                net::message_port& caller) const {
  std::array<char, 16384> piece{};
  while (!has_caller_left_) {
    const auto size = ::read(source.fd(), piece.data(), piece.size());
    if (size < 0 && errno == EINTR) continue;
    if (size < 0 && errno == EAGAIN) co_return found::nothing_yet;
    if (size <= 0) break;  // of a terminal, EIO: no process has it open
    offer(caller, sink, {piece.data(), static_cast<std::size_t>(size)});
    if (caller.unsent() > most_unsent) co_await caller.flushed(loop::time_point::max());
  }
  co_return found::nothing;
}

loop::task<> execution::await_end() {
  loop::awaited_request ended;
  loop_.poll(handle_, POLLIN, ended);
  (void)co_await ended;
  ending_ = child_.wait();
  log_->write(level::info, fmt::format("process {}, a command of 'exec', has ended with {}", id_,
                                       ending_.text()));
  changed_.notify();
}

// As a terminal that is closed does (setsid(2)).
loop::task<> execution::end_command() {
  ::kill(-id_, SIGHUP);
  ::kill(-id_, SIGCONT);
  const bool has_ended = co_await changed_.wait([this] { return !child_; }, loop_.now() + grace_);
  if (!has_ended) ::kill(-id_, SIGKILL);
}

}  // namespace

result<std::unique_ptr<session>> execute(const context& context, const program_options& options,
                                         const place_values& values, execution_order order) {
  auto launch = launch_beside(options, values, order.words);
  if (!launch) return std::unexpected(launch.error());
  const bool is_terminal = !order.terminal.empty();
  auto streams = is_terminal ? open_terminal(order, launch->user) : open_pipes(order.takes_input);
  if (!streams) return std::unexpected(streams.error());
  if (is_terminal) launch->environment.push_back("TERM=" + order.terminal);
  process::program program;
  program.words = std::move(launch->words);
  program.environment = std::move(launch->environment);
  program.folder = options.folder.empty() ? "/" : options.folder;
  program.input = streams->others.input ? streams->others.input.get() : -1;
  program.output = streams->others.output ? streams->others.output.get() : -1;
  program.error = streams->others.errors ? streams->others.errors.get() : -1;
  program.terminal = streams->terminal;
  program.is_leader = true;
  program.usual_signals = usual_signals;
  auto child = process::start(std::move(program));
  if (!child) return std::unexpected(child.error());
  context.log->write(level::info,
                     fmt::format("process {} started by 'exec': {}", child->id(),
                                 text::printable(fmt::format("{}", fmt::join(order.words, " ")))));
  return std::make_unique<execution>(context, std::move(*child), std::move(streams->own),
                                     is_terminal, loop::from_seconds(options.grace));
}

}  // namespace strata::runtime::program
