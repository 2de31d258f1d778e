#include "ipc/hybrid_control.hpp"

#include <netdb.h>
#include <netinet/in.h>
#include <netinet/tcp.h>
#include <poll.h>
#include <sys/socket.h>

#include <algorithm>
#include <cerrno>
#include <memory>
#include <thread>

namespace strata::ipc {

namespace {

using clock = std::chrono::steady_clock;
using std::chrono::milliseconds;

constexpr milliseconds retry_interval{50};
constexpr int backlog = 16;

struct free_addresses {
  void operator()(addrinfo* first) const { ::freeaddrinfo(first); }
};
using addresses = std::unique_ptr<addrinfo, free_addresses>;

std::string operation_on(std::string_view verb, std::string_view host, std::uint16_t port) {
  const bool is_v6 = host.contains(':');
  return std::string(verb) + " tcp://" + (is_v6 ? "[" : "") + std::string(host) +
         (is_v6 ? "]" : "") + ":" + std::to_string(port);
}

result<addresses> parse(const std::string& host, std::uint16_t port, const std::string& operation) {
  addrinfo hints{};
  hints.ai_flags = AI_NUMERICHOST | AI_NUMERICSERV;
  hints.ai_socktype = SOCK_STREAM;
  addrinfo* found = nullptr;
  const int code = ::getaddrinfo(host.c_str(), std::to_string(port).c_str(), &hints, &found);
  if (code != 0) {
    return failure(errc::invalid_argument, operation, ::gai_strerror(code),
                   "use a numeric address: 192.0.2.1, 2001:db8::1 or fe80::1%eth0");
  }
  return addresses(found);
}

unique_fd open_socket(int family) {
  return unique_fd(::socket(family, SOCK_STREAM | SOCK_CLOEXEC | SOCK_NONBLOCK, 0));
}

void set(int fd, int level, int name, int value) {
  ::setsockopt(fd, level, name, &value, sizeof value);
}

// Returns false at the deadline.
result<bool> wait(int fd, short events, deadline limit, const std::string& operation) {
  for (;;) {
    const auto rest = std::max(limit - clock::now(), clock::duration::zero());
    const auto seconds = std::chrono::duration_cast<std::chrono::seconds>(rest);
    const timespec left{.tv_sec = seconds.count(), .tv_nsec = (rest - seconds).count()};
    pollfd asked{.fd = fd, .events = events, .revents = 0};
    const int count = ::ppoll(&asked, 1, &left, nullptr);
    if (count > 0) return true;
    if (count == 0) return false;
    if (errno != EINTR) return system_failure(errno, operation);
  }
}

std::unexpected<error> too_late(const std::string& operation, std::string reason = {}) {
  if (reason.empty()) reason = "the timeout has expired";
  return failure(errc::timed_out, operation, std::move(reason),
                 "check that the peer runs, or use a longer timeout");
}

result<unique_fd> try_connect(const addrinfo& addrinfo, deadline limit,
                              const std::string& operation) {
  auto fd = open_socket(addrinfo.ai_family);
  if (!fd) return system_failure(errno, operation);
  if (::connect(fd.get(), addrinfo.ai_addr, addrinfo.ai_addrlen) == 0) return fd;
  if (errno != EINPROGRESS) return system_failure(errno, operation);
  const auto ready = wait(fd.get(), POLLOUT, limit, operation);
  if (!ready) return std::unexpected(ready.error());
  if (!*ready) return too_late(operation, "no answer arrived");
  int code = 0;
  socklen_t size = sizeof code;
  ::getsockopt(fd.get(), SOL_SOCKET, SO_ERROR, &code, &size);
  if (code != 0) return system_failure(code, operation);
  return fd;
}

bool is_passing(const error& refusal) {
  switch (refusal.sys_errno) {
    case ECONNREFUSED:
    case ECONNRESET:
    case ECONNABORTED:
    case ENETUNREACH:
    case EHOSTUNREACH:
    case ENETDOWN:
    case ETIMEDOUT:
    case EADDRNOTAVAIL: return true;
    default: return false;
  }
}

}  // namespace

result<unique_fd> listen_tcp(const std::string& address, std::uint16_t port) {
  const auto shown = address.empty() ? std::string("*") : address;
  const auto operation = operation_on("listen on", shown, port);
  auto parsed = parse(address.empty() ? "::" : address, port, operation);
  if (!parsed) return std::unexpected(parsed.error());
  auto fd = open_socket((*parsed)->ai_family);
  if (!fd && address.empty() && errno == EAFNOSUPPORT) {
    parsed = parse("0.0.0.0", port, operation);
    if (!parsed) return std::unexpected(parsed.error());
    fd = open_socket(AF_INET);
  }
  if (!fd) return system_failure(errno, operation);
  set(fd.get(), SOL_SOCKET, SO_REUSEADDR, 1);
  if ((*parsed)->ai_family == AF_INET6) set(fd.get(), IPPROTO_IPV6, IPV6_V6ONLY, 0);
  if (::bind(fd.get(), (*parsed)->ai_addr, (*parsed)->ai_addrlen) != 0 ||
      ::listen(fd.get(), backlog) != 0) {
    return system_failure(
        errno, operation,
        errno == EADDRINUSE ? "use another port, or stop the program that uses it" : "");
  }
  return fd;
}

std::uint16_t port_of(int fd) {
  sockaddr_storage bound{};
  socklen_t size = sizeof bound;
  if (::getsockname(fd, reinterpret_cast<sockaddr*>(&bound), &size) != 0) return 0;
  return ntohs(bound.ss_family == AF_INET6 ? reinterpret_cast<const sockaddr_in6&>(bound).sin6_port
                                           : reinterpret_cast<const sockaddr_in&>(bound).sin_port);
}

result<unique_fd> accept_tcp(int listening, deadline limit) {
  const std::string operation = "accept a hybrid client";
  for (;;) {
    unique_fd fd(::accept4(listening, nullptr, nullptr, SOCK_CLOEXEC | SOCK_NONBLOCK));
    if (fd) return fd;
    if (errno == EINTR || errno == ECONNABORTED) continue;
    if (errno != EAGAIN) return system_failure(errno, operation);
    const auto ready = wait(listening, POLLIN, limit, operation);
    if (!ready) return std::unexpected(ready.error());
    if (!*ready) return too_late(operation, "no client connected");
  }
}

result<unique_fd> connect_tcp(std::string_view host, std::uint16_t port, deadline limit) {
  const auto operation = operation_on("connect to", host, port);
  const auto parsed = parse(std::string(host), port, operation);
  if (!parsed) return std::unexpected(parsed.error());
  for (;;) {
    auto made = try_connect(**parsed, limit, operation);
    if (made || !is_passing(made.error())) return made;
    if (clock::now() + retry_interval >= limit) {
      auto& reported = made.error();
      reported.code = errc::timed_out;
      reported.remedy = "check that the peer runs, or use a longer timeout";
      return made;
    }
    std::this_thread::sleep_for(retry_interval);
  }
}

result<void> read_all(int fd, mutable_byte_span bytes, deadline limit, const std::string& purpose) {
  while (!bytes.empty()) {
    // Checked before each read: a peer that sends a byte now and then gains no time.
    const auto ready = wait(fd, POLLIN, limit, purpose);
    if (!ready) return std::unexpected(ready.error());
    if (!*ready) {
      return too_late(purpose, std::to_string(bytes.size()) + " bytes did not arrive in time");
    }
    const auto count = ::recv(fd, bytes.data(), bytes.size(), MSG_DONTWAIT);
    if (count == 0) {
      return failure(
          errc::connection_closed, purpose,
          "the peer closed the connection with " + std::to_string(bytes.size()) + " bytes missing");
    }
    if (count < 0) {
      if (errno == EINTR || errno == EAGAIN) continue;
      return system_failure(errno, purpose);
    }
    bytes = bytes.subspan(static_cast<std::size_t>(count));
  }
  return {};
}

result<void> write_all(int fd, byte_span bytes, deadline limit, const std::string& purpose) {
  while (!bytes.empty()) {
    const auto ready = wait(fd, POLLOUT, limit, purpose);
    if (!ready) return std::unexpected(ready.error());
    if (!*ready) return too_late(purpose, "the peer does not receive");
    const auto count = ::send(fd, bytes.data(), bytes.size(), MSG_DONTWAIT | MSG_NOSIGNAL);
    if (count < 0) {
      if (errno == EINTR || errno == EAGAIN) continue;
      return system_failure(errno, purpose);
    }
    bytes = bytes.subspan(static_cast<std::size_t>(count));
  }
  return {};
}

result<void> watch_peer(int fd, milliseconds patience) {
  // Half of the time until the first probe, then four probes.
  const auto seconds = std::chrono::duration_cast<std::chrono::seconds>(patience).count();
  const auto at_least_one = [](auto value) { return std::max(static_cast<int>(value), 1); };
  set(fd, SOL_SOCKET, SO_KEEPALIVE, 1);
  set(fd, IPPROTO_TCP, TCP_KEEPIDLE, at_least_one(seconds / 2));
  set(fd, IPPROTO_TCP, TCP_KEEPINTVL, at_least_one(seconds / 8));
  set(fd, IPPROTO_TCP, TCP_KEEPCNT, 4);
  const auto limit = static_cast<unsigned>(patience.count());
  if (::setsockopt(fd, IPPROTO_TCP, TCP_USER_TIMEOUT, &limit, sizeof limit) != 0) {
    return system_failure(errno, "set a timeout on the hybrid peer's connection");
  }
  return {};
}

}  // namespace strata::ipc
