#include "socket.hpp"

#include <arpa/inet.h>
#include <fcntl.h>
#include <netinet/in.h>
#include <netinet/tcp.h>
#include <sys/resource.h>
#include <sys/socket.h>
#include <sys/time.h>
#include <unistd.h>

#include <cerrno>

#include "failure.hpp"

namespace strata::bench {

namespace {

void set_option(const owned_fd& socket, int level, int option, int value) {
  if (setsockopt(socket.get(), level, option, &value, sizeof value) != 0) {
    fail_errno("setsockopt");
  }
}

}  // namespace

void owned_fd::close() {
  if (fd_ >= 0) ::close(std::exchange(fd_, -1));
}

owned_fd connect_loopback(std::uint16_t port, int receive_buffer) {
  owned_fd socket(::socket(AF_INET, SOCK_STREAM | SOCK_CLOEXEC, 0));
  if (!socket.open()) fail_errno("socket");
  set_option(socket, IPPROTO_TCP, TCP_NODELAY, 1);
  if (receive_buffer > 0) set_option(socket, SOL_SOCKET, SO_RCVBUF, receive_buffer);
  // SO_SNDTIMEO also bounds connect(): a server that stopped accepting must not hang us.
  const timeval limit{.tv_sec = 5, .tv_usec = 0};
  if (setsockopt(socket.get(), SOL_SOCKET, SO_SNDTIMEO, &limit, sizeof limit) != 0) {
    fail_errno("setsockopt SO_SNDTIMEO");
  }
  sockaddr_in address{};
  address.sin_family = AF_INET;
  address.sin_port = htons(port);
  address.sin_addr.s_addr = htonl(INADDR_LOOPBACK);
  if (connect(socket.get(), reinterpret_cast<const sockaddr*>(&address), sizeof address) != 0) {
    fail_errno(fmt::format("connect 127.0.0.1:{}", port));
  }
  if (fcntl(socket.get(), F_SETFL, O_NONBLOCK) != 0) fail_errno("fcntl O_NONBLOCK");
  return socket;
}

void send_whole(const owned_fd& socket, std::string_view bytes) {
  const ssize_t sent = send(socket.get(), bytes.data(), bytes.size(), MSG_NOSIGNAL);
  if (sent < 0) fail_errno("send");
  if (static_cast<std::size_t>(sent) != bytes.size()) fail("send: the socket's buffer is full");
}

poller::poller() : epoll_(epoll_create1(EPOLL_CLOEXEC)), ready_(512) {
  if (!epoll_.open()) fail_errno("epoll_create1");
}

void poller::add(int fd, std::uint32_t events, std::uint64_t token) {
  epoll_event event{};
  event.events = events;
  event.data.u64 = token;
  if (epoll_ctl(epoll_.get(), EPOLL_CTL_ADD, fd, &event) != 0) fail_errno("epoll_ctl");
}

void poller::remove(int fd) { epoll_ctl(epoll_.get(), EPOLL_CTL_DEL, fd, nullptr); }

std::span<const epoll_event> poller::wait(int timeout_ms) {
  const int count =
      epoll_wait(epoll_.get(), ready_.data(), static_cast<int>(ready_.size()), timeout_ms);
  if (count < 0) {
    if (errno == EINTR) return {};
    fail_errno("epoll_wait");
  }
  return {ready_.data(), static_cast<std::size_t>(count)};
}

void raise_descriptor_limit() {
  rlimit limit{};
  if (getrlimit(RLIMIT_NOFILE, &limit) != 0) return;
  limit.rlim_cur = limit.rlim_max;
  setrlimit(RLIMIT_NOFILE, &limit);
}

}  // namespace strata::bench
