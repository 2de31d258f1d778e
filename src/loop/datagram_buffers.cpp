#include "loop/datagram_buffers.hpp"

#include <linux/sock_diag.h>
#include <sys/socket.h>

#include <algorithm>
#include <array>
#include <cerrno>
#include <climits>
#include <memory>

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

bool has_whole_datagrams(const loop& on) { return is_of_kernel(on); }

std::optional<whole_datagram> take_datagram(const descriptor& socket) {
  constexpr std::size_t longest = 65536;  // an IP packet's length has 16 bits
  thread_local const auto memory = std::make_unique_for_overwrite<std::byte[]>(longest);
  sockaddr_storage from{};
  socklen_t from_size = sizeof from;
  ssize_t taken = 0;
  do {
    taken = ::recvfrom(socket.fd(), memory.get(), longest, MSG_DONTWAIT,
                       reinterpret_cast<sockaddr*>(&from), &from_size);
  } while (taken < 0 && errno == EINTR);
  if (taken < 0 && errno == EAGAIN) return std::nullopt;
  if (taken < 0) return whole_datagram{.result = -errno, .data = {}, .from = {}};
  return whole_datagram{
      .result = static_cast<int>(taken),
      .data = buffer::copy_of({memory.get(), static_cast<std::size_t>(taken)}),
      .from = socket_address(reinterpret_cast<const sockaddr*>(&from), from_size)};
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
