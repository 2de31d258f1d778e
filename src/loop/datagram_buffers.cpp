#include "loop/datagram_buffers.hpp"

#include <linux/sock_diag.h>
#include <sys/socket.h>

#include <algorithm>
#include <array>
#include <climits>

#include "loop/os_loop.hpp"

namespace strata::loop {

namespace {

bool is_of_kernel(const loop& on) { return dynamic_cast<const os_loop*>(&on) != nullptr; }

void set_size(int fd, int forced, int usual, std::uint64_t size) {
  if (size == 0) return;
  const auto bytes = static_cast<int>(std::min<std::uint64_t>(size, INT_MAX / 2));
  if (::setsockopt(fd, SOL_SOCKET, forced, &bytes, sizeof bytes) == 0) return;
  (void)::setsockopt(fd, SOL_SOCKET, usual, &bytes, sizeof bytes);
}

std::uint64_t size_of(int fd, int which) {
  int bytes = 0;
  socklen_t size = sizeof bytes;
  if (::getsockopt(fd, SOL_SOCKET, which, &bytes, &size) != 0) return 0;
  return static_cast<std::uint64_t>(bytes) / 2;
}

}  // namespace

void set_buffers(const loop& on, const descriptor& socket, const datagram_buffers& wanted) {
  if (!is_of_kernel(on)) return;
  set_size(socket.fd(), SO_RCVBUFFORCE, SO_RCVBUF, wanted.receive);
  set_size(socket.fd(), SO_SNDBUFFORCE, SO_SNDBUF, wanted.send);
}

datagram_buffers buffers_of(const loop& on, const descriptor& socket) {
  if (!is_of_kernel(on)) return {};
  return {size_of(socket.fd(), SO_RCVBUF), size_of(socket.fd(), SO_SNDBUF)};
}

std::uint32_t kernel_drops(const loop& on, const descriptor& socket) {
  std::array<std::uint32_t, SK_MEMINFO_VARS> figures{};
  socklen_t size = sizeof figures;
  if (!is_of_kernel(on) ||
      ::getsockopt(socket.fd(), SOL_SOCKET, SO_MEMINFO, figures.data(), &size) != 0) {
    return 0;
  }
  return figures[SK_MEMINFO_DROPS];
}

}  // namespace strata::loop
