#include "measure/ends/inet_socket.hpp"

#include <arpa/inet.h>
#include <linux/sock_diag.h>
#include <net/if.h>
#include <sys/ioctl.h>
#include <sys/socket.h>
#include <sys/time.h>

#include <algorithm>
#include <array>
#include <cerrno>
#include <cstdint>
#include <cstring>

#include "measure/ends/end.hpp"

namespace strata::measure {

result<sockaddr_in> inet_address(const std::string& address, std::uint16_t port) {
  sockaddr_in made{};
  made.sin_family = AF_INET;
  made.sin_port = htons(port);
  if (::inet_pton(AF_INET, address.c_str(), &made.sin_addr) != 1) {
    return failure(errc::invalid_argument, "use address '" + address + "'",
                   "it is not an IPv4 address", "write it as 192.0.2.1");
  }
  return made;
}

std::string address_of_interface(const std::string& interface) {
  const unique_fd fd(::socket(AF_INET, SOCK_DGRAM | SOCK_CLOEXEC, 0));
  ifreq request{};
  interface.copy(request.ifr_name, IFNAMSIZ - 1);
  if (!fd || ::ioctl(fd.get(), SIOCGIFADDR, &request) != 0) return {};
  sockaddr_in address{};
  std::memcpy(&address, &request.ifr_addr, sizeof address);
  std::array<char, INET_ADDRSTRLEN> text{};
  ::inet_ntop(AF_INET, &address.sin_addr, text.data(), text.size());
  return text.data();
}

result<void> set_option(int fd, int level, int name, int value, const std::string& text) {
  if (::setsockopt(fd, level, name, &value, sizeof value) == 0) return {};
  return system_failure(errno, text);
}

result<unique_fd> bound_socket(int type, const std::string& address, std::uint16_t port,
                               std::size_t receive_buffer) {
  const auto where = inet_address(address, port);
  if (!where) return std::unexpected(where.error());
  unique_fd fd(::socket(AF_INET, type | SOCK_CLOEXEC, 0));
  if (!fd) return system_failure(errno, "open a socket");
  // The kernel's limit applies below the sizes that UDP and TCP request, unless the process may
  // exceed it.
  const int size = static_cast<int>(std::min<std::size_t>(receive_buffer, INT32_MAX / 2));
  if (size != 0 && ::setsockopt(fd.get(), SOL_SOCKET, SO_RCVBUFFORCE, &size, sizeof size) != 0) {
    const auto done = set_option(fd.get(), SOL_SOCKET, SO_RCVBUF, size, "set the receive buffer");
    if (!done) return std::unexpected(done.error());
  }
  const timeval limit{.tv_sec = 0, .tv_usec = suseconds_t{timeout_ms} * 1000};
  ::setsockopt(fd.get(), SOL_SOCKET, SO_RCVTIMEO, &limit, sizeof limit);
  const auto reuse = set_option(fd.get(), SOL_SOCKET, SO_REUSEADDR, 1, "reuse the address");
  if (!reuse) return std::unexpected(reuse.error());
  if (::bind(fd.get(), reinterpret_cast<const sockaddr*>(&*where), sizeof *where) != 0) {
    return system_failure(errno, "bind " + address + ":" + std::to_string(port));
  }
  return fd;
}

std::uint16_t port_of(int fd) {
  sockaddr_in address{};
  socklen_t size = sizeof address;
  ::getsockname(fd, reinterpret_cast<sockaddr*>(&address), &size);
  return ntohs(address.sin_port);
}

result<std::uint64_t> socket_drops(int fd) {
  std::array<std::uint32_t, SK_MEMINFO_VARS> counted{};
  socklen_t size = sizeof counted;
  if (::getsockopt(fd, SOL_SOCKET, SO_MEMINFO, counted.data(), &size) != 0) {
    return system_failure(errno, "read the number of datagrams that a socket lost");
  }
  return counted[SK_MEMINFO_DROPS];
}

}  // namespace strata::measure
