// A descriptor with an owner, the TCP connections of the load generator, and epoll.
#pragma once

#include <sys/epoll.h>

#include <cstdint>
#include <span>
#include <string_view>
#include <utility>
#include <vector>

namespace strata::bench {

class owned_fd {
 public:
  owned_fd() = default;
  explicit owned_fd(int fd) : fd_(fd) {}
  owned_fd(owned_fd&& other) noexcept : fd_(std::exchange(other.fd_, -1)) {}
  owned_fd& operator=(owned_fd&& other) noexcept {
    std::swap(fd_, other.fd_);
    return *this;
  }
  ~owned_fd() { close(); }

  int get() const { return fd_; }
  bool open() const { return fd_ >= 0; }
  void close();

 private:
  int fd_ = -1;
};

// A TCP connection to 127.0.0.1:port, TCP_NODELAY. Waits for the handshake, at most 5 s; then
// non-blocking. receive_buffer > 0 sets SO_RCVBUF, before the handshake so that it counts.
// Fails the program when it cannot connect.
owned_fd connect_loopback(std::uint16_t port, int receive_buffer = 0);

// Sends all of a short message that the socket's buffer is sure to hold; fails otherwise.
void send_whole(const owned_fd& socket, std::string_view bytes);

class poller {
 public:
  poller();
  void add(int fd, std::uint32_t events, std::uint64_t token);
  void remove(int fd);
  // Waits at most timeout_ms; the span is valid until the next call.
  std::span<const epoll_event> wait(int timeout_ms);

 private:
  owned_fd epoll_;
  std::vector<epoll_event> ready_;
};

// Lifts the soft limit of open descriptors to the hard one.
void raise_descriptor_limit();

}  // namespace strata::bench
