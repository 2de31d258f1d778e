#include "cli/prompt/connection.hpp"

#include <fmt/format.h>
#include <netdb.h>
#include <sys/socket.h>
#include <sys/un.h>

#include <array>
#include <cerrno>
#include <cstring>
#include <memory>
#include <string_view>
#include <vector>

#include "proto/resp/resp_request.hpp"

namespace strata::cli {

namespace {

constexpr std::string_view tcp = "tcp://";
constexpr std::string_view local = "unix://";

/// Returns an open socket, or the errno.
std::expected<unique_fd, int> connect_to(const sockaddr* address, socklen_t size, int family) {
  unique_fd fd(::socket(family, SOCK_STREAM | SOCK_CLOEXEC, 0));
  if (!fd) return std::unexpected(errno);
  int failed = 0;
  do {
    failed = ::connect(fd.get(), address, size) == 0 ? 0 : errno;
  } while (failed == EINTR);
  if (failed != 0) return std::unexpected(failed);
  return fd;
}

std::unexpected<refusal> unreachable(const std::string& endpoint, std::string_view why) {
  return refuse(exit_unreachable, fmt::format("cannot reach the cache at {}: {}", endpoint, why));
}

outcome<unique_fd> connect_local(const std::string& endpoint) {
  const auto path = endpoint.substr(local.size());
  sockaddr_un address{};
  address.sun_family = AF_UNIX;
  if (path.size() >= sizeof address.sun_path) return unreachable(endpoint, "its path is too long");
  std::memcpy(address.sun_path, path.data(), path.size());
  auto fd = connect_to(reinterpret_cast<const sockaddr*>(&address), sizeof address, AF_UNIX);
  if (!fd) return unreachable(endpoint, std::strerror(fd.error()));
  return std::move(*fd);
}

/// Host and port of "tcp://HOST:PORT", the host without brackets.
std::pair<std::string, std::string> split_tcp(const std::string& endpoint) {
  const auto rest = endpoint.substr(tcp.size());
  const auto colon = rest.rfind(':');
  auto host = rest.substr(0, colon);
  auto port = colon == std::string::npos ? std::string() : rest.substr(colon + 1);
  if (host.starts_with('[') && host.ends_with(']')) host = host.substr(1, host.size() - 2);
  if (host == "0.0.0.0" || host == "*") host = "127.0.0.1";
  if (host == "::") host = "::1";
  return {std::move(host), std::move(port)};
}

outcome<unique_fd> connect_tcp(const std::string& endpoint) {
  const auto [host, port] = split_tcp(endpoint);
  addrinfo wanted{};
  wanted.ai_socktype = SOCK_STREAM;
  addrinfo* list = nullptr;
  const int failed = ::getaddrinfo(host.c_str(), port.c_str(), &wanted, &list);
  if (failed != 0) return unreachable(endpoint, ::gai_strerror(failed));
  const std::unique_ptr<addrinfo, decltype(&::freeaddrinfo)> found(list, ::freeaddrinfo);
  int why = 0;
  for (const auto* each = list; each != nullptr; each = each->ai_next) {
    auto fd = connect_to(each->ai_addr, each->ai_addrlen, each->ai_family);
    if (fd) return std::move(*fd);
    why = fd.error();
  }
  return unreachable(endpoint, std::strerror(why));
}

}  // namespace

outcome<cache_link> cache_link::connect(const std::string& endpoint) {
  auto fd = endpoint.starts_with(local) ? connect_local(endpoint) : connect_tcp(endpoint);
  if (!fd) return std::unexpected(fd.error());
  cache_link link(std::move(*fd));
  return link;
}

outcome<> cache_link::send(std::span<const std::string> words) const {
  std::string text;
  proto::append_command(text, std::vector<std::string_view>(words.begin(), words.end()));
  std::string_view left = text;
  while (!left.empty()) {
    const auto sent = ::send(fd(), left.data(), left.size(), MSG_NOSIGNAL);
    if (sent < 0 && errno == EINTR) continue;
    if (sent < 0) return refuse(exit_failed, system_error(errno, "send to the cache"));
    left.remove_prefix(static_cast<std::size_t>(sent));
  }
  return {};
}

outcome<> cache_link::receive() {
  std::array<char, 65536> buffer;
  for (;;) {
    const auto got = ::recv(fd(), buffer.data(), buffer.size(), 0);
    if (got < 0 && errno == EINTR) continue;
    if (got < 0 && errno != ECONNRESET) {
      return refuse(exit_failed, system_error(errno, "receive from the cache"));
    }
    if (got <= 0) {
      return refuse(exit_failed, "the cache has ended the connection; was it stopped?");
    }
    reader_.feed(as_bytes({buffer.data(), static_cast<std::size_t>(got)}));
    return {};
  }
}

outcome<std::optional<proto::resp_value>> cache_link::take() {
  auto next = reader_.next();
  if (!next) return refuse(exit_failed, next.error());
  return std::move(*next);
}

outcome<proto::resp_value> cache_link::wait() {
  for (;;) {
    auto next = take();
    if (!next) return std::unexpected(next.error());
    if (*next) return std::move(**next);
    if (auto more = receive(); !more) return std::unexpected(more.error());
  }
}

}  // namespace strata::cli
