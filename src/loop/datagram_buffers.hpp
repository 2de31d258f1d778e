// What the kernel keeps of a datagram socket, what it had no room for, and which address of this
// machine a datagram was sent to, so that the answer leaves from there: a socket for all addresses
// would leave that to the kernel, which takes the route's (ip(7), IP_PKTINFO; ipv6(7),
// IPV6_PKTINFO). The sockets of a simulation have none of it.
#pragma once

#include <netinet/in.h>
#include <sys/socket.h>

#include <array>
#include <cstddef>
#include <cstdint>
#include <optional>

#include "loop/loop.hpp"
#include "loop/names/address.hpp"

namespace strata::loop {

/// In bytes, as setsockopt(2) takes them; the kernel reckons with twice as much, for its own use.
struct datagram_buffers {
  std::uint64_t receive = 0;
  std::uint64_t send = 0;
};

/// Asks for other ones, where they are not 0. The kernel gives what the machine allows; more only
/// to a process that has CAP_NET_ADMIN.
void set_buffers(const loop& loop, const descriptor& socket, const datagram_buffers& buffers);
[[nodiscard]] datagram_buffers buffers_of(const loop& loop, const descriptor& socket);

/// A datagram that has come.
struct whole_datagram {
  int result = 0;  ///< bytes, or a negative errno
  buffer data;     ///< in memory of its own
  socket_address from;
};
/// The next one, whole whatever its size, which `loop::receive_from` does not promise. Nullopt:
/// there is none now, for which there is `loop::poll`.
[[nodiscard]] std::optional<whole_datagram> take_datagram(const descriptor& socket);
/// Whether there are such sockets: not in a simulation.
[[nodiscard]] bool has_whole_datagrams(const loop& loop);

/// Datagrams that came and were dropped, because the buffer was full, since the socket was opened.
/// It begins again behind its largest value.
[[nodiscard]] std::uint32_t kernel_drops(const loop& loop, const descriptor& socket);

/// Room for what the kernel tells of a datagram, and is told.
struct datagram_control {
  static constexpr std::size_t size =
      CMSG_SPACE(sizeof(in_pktinfo)) + CMSG_SPACE(sizeof(in6_pktinfo));
  alignas(cmsghdr) std::array<std::byte, size> bytes{};
};

/// The kernel tells of each datagram to which address it came. For a socket that is bound to all.
void ask_for_sources(int fd, int family);
/// `received`: as recvmsg(2) has filled it in.
void note_source(const msghdr& received, socket_address& sender);
/// `room` lives as long as `header`. Nothing when the destination has no source.
void say_source(const socket_address& destination, datagram_control& room, msghdr& header);

}  // namespace strata::loop
