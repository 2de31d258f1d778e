#include "cli/pipe/standard_streams.hpp"

#include <fcntl.h>
#include <poll.h>
#include <sys/socket.h>
#include <unistd.h>

#include <array>
#include <cerrno>
#include <string>

#include "cli/pipe/terminal_text.hpp"
#include "loop/thread.hpp"
#include "strata/base/bytes.hpp"

namespace strata::cli {

namespace {

using happening = standard_streams::happening;
using piece = std::array<char, 65536>;

/// Shared by the threads; the last one closes it.
struct thread_side {
  unique_fd socket;
  unique_fd events;
};
using shared_side = std::shared_ptr<const thread_side>;

void report(const thread_side& side, happening happening, int sys_errno) {
  const standard_streams::event reported{happening, sys_errno};
  // An event is smaller than PIPE_BUF, so it is written as a whole; the reader may be gone.
  (void)!::write(side.events.get(), &reported, sizeof reported);
}

/// Whether to try again: a signal arrived, or another user of the descriptor made it non-blocking.
bool may_try_again(int fd, short wanted) {
  if (errno == EINTR) return true;
  if (errno != EAGAIN) return false;
  pollfd asked{fd, wanted, 0};
  (void)::poll(&asked, 1, -1);
  return true;
}

/// Returns 0, or the errno that stopped it.
int write_whole(int fd, std::string_view text) {
  while (!text.empty()) {
    const auto written = ::write(fd, text.data(), text.size());
    if (written < 0 && may_try_again(fd, POLLOUT)) continue;
    if (written < 0) return errno;
    text.remove_prefix(static_cast<std::size_t>(written));
  }
  return 0;
}

bool send_whole(int socket, std::string_view text) {
  while (!text.empty()) {
    const auto sent = ::send(socket, text.data(), text.size(), MSG_NOSIGNAL);
    if (sent < 0 && errno == EINTR) continue;
    if (sent < 0) return false;
    text.remove_prefix(static_cast<std::size_t>(sent));
  }
  return true;
}

void carry_input(const shared_side& side) {
  const auto block = std::make_unique<piece>();
  for (;;) {
    const auto count = ::read(STDIN_FILENO, block->data(), block->size());
    if (count < 0 && may_try_again(STDIN_FILENO, POLLIN)) continue;
    if (count < 0) return report(*side, happening::input_failed, errno);
    if (count == 0) break;
    if (!send_whole(side->socket.get(), {block->data(), static_cast<std::size_t>(count)})) return;
  }
  ::shutdown(side->socket.get(), SHUT_WR);
}

// Closes standard output, so that its reader sees the end even while the input goes on. The
// descriptor number stays in use.
void end_output() {
  const unique_fd nowhere(::open("/dev/null", O_WRONLY | O_CLOEXEC));
  if (nowhere) ::dup2(nowhere.get(), STDOUT_FILENO);
}

void carry_output(const shared_side& side) {
  const auto block = std::make_unique<piece>();
  terminal_text shown;
  const bool is_shown = output_is_terminal();
  for (;;) {
    const auto count = ::recv(side->socket.get(), block->data(), block->size(), 0);
    if (count < 0 && errno == EINTR) continue;
    if (count <= 0) break;
    std::string_view text(block->data(), static_cast<std::size_t>(count));
    const auto failed = write_whole(STDOUT_FILENO, is_shown ? shown.feed(text) : text);
    if (failed != 0) return report(*side, happening::output_failed, failed);
  }
  const auto failed = is_shown ? write_whole(STDOUT_FILENO, shown.finish()) : 0;
  if (!is_shown) end_output();
  report(*side, failed == 0 ? happening::output_done : happening::output_failed, failed);
}

}  // namespace

bool input_is_terminal() { return ::isatty(STDIN_FILENO) == 1; }

bool output_is_terminal() { return ::isatty(STDOUT_FILENO) == 1; }

result<std::unique_ptr<standard_streams>> standard_streams::open(loop::loop& loop,
                                                                 bool reads_input) {
  constexpr const char* operation = "join standard input and output";
  std::array<int, 2> sockets{};
  if (::socketpair(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC, 0, sockets.data()) != 0) {
    return system_failure(errno, operation);
  }
  unique_fd ours(sockets[0]);
  const auto side = std::make_shared<thread_side>();
  side->socket.reset(sockets[1]);
  std::array<int, 2> events{};
  if (::pipe2(events.data(), O_CLOEXEC) != 0) return system_failure(errno, operation);
  unique_fd reader(events[0]);
  side->events.reset(events[1]);
  for (auto* const body : {carry_input, carry_output}) {
    if (body == carry_input && !reads_input) continue;
    auto started = loop::start_thread(operation, [side, body] { body(side); });
    if (!started) return std::unexpected(started.error());
    started->detach();
  }
  auto stream = net::stream::over(loop, loop.adopt(ours.release()));
  return std::unique_ptr<standard_streams>(
      new standard_streams(loop, std::move(stream), reader.release()));
}

loop::task<standard_streams::event> standard_streams::next_event() {
  loop::awaited_request asked;
  loop_.poll(events_, POLLIN, asked);
  const int ready = co_await asked;
  (void)ready;
  event reported;
  const auto count = ::read(events_.fd(), &reported, sizeof reported);
  // Both threads have ended without an event: the stream was closed before.
  if (count != static_cast<ssize_t>(sizeof reported)) co_return event{};
  co_return reported;
}

}  // namespace strata::cli
