#include "net/tls/blocking_stream.hpp"

#include <netdb.h>
#include <sys/socket.h>
#include <sys/time.h>

#include <array>
#include <cerrno>

namespace strata::net {

namespace {

using receive_room = std::array<std::byte, 65536>;

struct address_list_deleter {
  void operator()(addrinfo* list) const { ::freeaddrinfo(list); }
};

void limit_waiting(int fd, std::chrono::seconds limit) {
  const timeval longest{.tv_sec = limit.count(), .tv_usec = 0};
  ::setsockopt(fd, SOL_SOCKET, SO_RCVTIMEO, &longest, sizeof longest);
  ::setsockopt(fd, SOL_SOCKET, SO_SNDTIMEO, &longest, sizeof longest);
}

result<byte_span> receive_into(int fd, receive_room& room) {
  ssize_t got = 0;
  do {
    got = ::recv(fd, room.data(), room.size(), 0);
  } while (got < 0 && errno == EINTR);
  if (got < 0 && errno == ECONNRESET) return byte_span{};
  if (got < 0) return system_failure(errno == EAGAIN ? ETIMEDOUT : errno, "receive");
  return byte_span(room).first(static_cast<std::size_t>(got));
}

}  // namespace

result<unique_fd> connect_blocking(const std::string& host, std::uint16_t port,
                                   std::chrono::seconds limit) {
  const auto operation = "connect to " + host + ":" + std::to_string(port);
  addrinfo* found = nullptr;
  const addrinfo hints{.ai_family = AF_UNSPEC, .ai_socktype = SOCK_STREAM};
  const int code = ::getaddrinfo(host.c_str(), std::to_string(port).c_str(), &hints, &found);
  if (code != 0) return failure(errc::not_found, operation, ::gai_strerror(code), "check the name");
  const std::unique_ptr<addrinfo, address_list_deleter> all(found);
  int last = ENOENT;
  for (const auto* each = found; each != nullptr; each = each->ai_next) {
    unique_fd made(::socket(each->ai_family, each->ai_socktype | SOCK_CLOEXEC, each->ai_protocol));
    if (made) {
      limit_waiting(made.get(), limit);
      if (::connect(made.get(), each->ai_addr, each->ai_addrlen) == 0) return made;
    }
    last = errno == EINPROGRESS ? ETIMEDOUT : errno;
  }
  return system_failure(last, operation, "check that a server listens there");
}

result<blocking_stream> blocking_stream::connect(const std::string& host, std::uint16_t port,
                                                 const tls_client_settings& settings,
                                                 std::chrono::seconds limit) {
  auto context = tls_context::for_client(settings);
  if (!context) return std::unexpected(context.error());
  auto connected = connect_blocking(host, port, limit);
  if (!connected) return std::unexpected(connected.error());
  auto session = tls_session::make(std::move(*context), host);
  if (!session) return std::unexpected(session.error());
  blocking_stream made(std::move(*connected), std::move(*session));
  if (auto agreed = made.shake_hands(); !agreed) return std::unexpected(agreed.error());
  // From here on an answer may take any time.
  limit_waiting(made.fd(), std::chrono::seconds::zero());
  return made;
}

result<void> blocking_stream::shake_hands() {
  receive_room room;
  byte_span sealed;
  for (;;) {
    auto done = session_->shake_hands(sealed);
    if (session_->owes()) {
      if (auto sent = send_sealed(session_->seal({})); done && !sent) return sent;
    }
    if (!done) return std::unexpected(done.error());
    if (*done) break;
    auto more = receive_into(fd(), room);
    if (!more) return std::unexpected(more.error());
    if (more->empty()) {
      return failure(errc::connection_closed, "agree on TLS",
                     "the server has closed the connection", "check that it speaks TLS");
    }
    sealed = *more;
  }
  early_ = as_text(session_->open(sealed).bytes());
  return {};
}

result<void> blocking_stream::send_sealed(const loop::slice& sealed) const {
  auto rest = sealed.bytes();
  while (!rest.empty()) {
    const auto sent = ::send(fd(), rest.data(), rest.size(), MSG_NOSIGNAL);
    if (sent < 0 && errno == EINTR) continue;
    if (sent < 0) return system_failure(errno == EAGAIN ? ETIMEDOUT : errno, "send");
    rest = rest.subspan(static_cast<std::size_t>(sent));
  }
  return {};
}

result<void> blocking_stream::send(byte_span bytes) {
  const auto plain = loop::slice::copy_of(bytes);
  return send_sealed(session_->seal({&plain, 1}));
}

result<std::string> blocking_stream::receive() {
  if (!early_.empty()) return std::exchange(early_, {});
  receive_room room;
  for (;;) {
    auto sealed = receive_into(fd(), room);
    if (!sealed) return std::unexpected(sealed.error());
    if (sealed->empty()) return std::string();
    std::string plain(as_text(session_->open(*sealed).bytes()));
    if (session_->failed()) return std::unexpected(*session_->failed());
    if (session_->owes()) {
      if (auto sent = send_sealed(session_->seal({})); !sent) return std::unexpected(sent.error());
    }
    if (!plain.empty() || session_->peer_has_ended()) return plain;
  }
}

}  // namespace strata::net
