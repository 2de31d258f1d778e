#include "net/listener.hpp"

#include <cerrno>

#include "loop/os_loop.hpp"
#include "loop/socket_shelf.hpp"

namespace strata::net {

namespace {

// The file of a socket that somebody else keeps open is not this process's to remove.
loop::socket_file own_file(const loop::loop& loop, const loop::descriptor& socket) {
  const auto path = loop.local_address(socket).path();
  if (path.empty() || loop::socket_shelf::of_process().keeps(socket.fd())) return {};
  return loop::socket_file(path);
}

}  // namespace

listener::listener(loop::loop& loop, loop::descriptor listening)
    : loop_(loop), socket_(std::move(listening)), file_(own_file(loop, socket_)) {}

listener::~listener() { abandon(); }

void listener::finish() {
  is_finished_ = true;
  if (under_way()) cancel();
}

void listener::on_completion(loop::completion completion) {
  // The kernel wakes one of the processes that accept on copies of a socket (io_uring polls
  // exclusively). If that was this one, the other one knows nothing of what waits.
  if (is_finished_ && !completion.more) {
    for (int fd = 0; (fd = loop::accept_waiting(loop_, socket_)) >= 0;) {
      arrived_.push_back({0, loop_.adopt(fd)});
    }
  }
  if (completion.result >= 0) {
    arrived_.push_back({0, loop_.adopt(completion.result)});
  } else {
    arrived_.push_back({-completion.result, {}});
  }
  if (waiter_) std::exchange(waiter_, {}).resume();
}

result<loop::descriptor> listener::take() {
  auto first = std::move(arrived_.front());
  arrived_.pop_front();
  if (first.sys_errno != 0) {
    return system_failure(first.sys_errno, "accept a connection");
  }
  return std::move(first.connection);
}

}  // namespace strata::net
