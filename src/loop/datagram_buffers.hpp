// The kernel's state of a datagram socket: its buffers, its count of dropped datagrams, and the
// address of this machine to which a datagram was sent, so that the answer is sent from there. For
// a socket bound to all addresses, the kernel would otherwise choose the route's (ip(7),
// IP_PKTINFO; ipv6(7), IPV6_PKTINFO). Simulated sockets have none of this.
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

/// In bytes, as setsockopt(2) takes them; the kernel doubles the value for its own overhead.
struct datagram_buffers {
  std::uint64_t receive = 0;
  std::uint64_t send = 0;
};

/// Requests buffer sizes, where they are not 0. The kernel caps them at the machine's limit, except
/// for a process with CAP_NET_ADMIN.
void set_buffers(const loop& loop, const descriptor& socket, const datagram_buffers& buffers);
[[nodiscard]] datagram_buffers buffers_of(const loop& loop, const descriptor& socket);

/// A received datagram.
struct whole_datagram {
  int result = 0;  ///< bytes, or a negative errno
  buffer data;     ///< in memory of its own
  socket_address from;
};
/// Returns the next datagram, whole whatever its size, which `loop::receive_from` does not
/// guarantee; nullopt if none is waiting. Use `loop::poll` to wait.
[[nodiscard]] std::optional<whole_datagram> take_datagram(const descriptor& socket);
/// Reports whether whole datagrams can be taken: not in a simulation.
[[nodiscard]] bool has_whole_datagrams(const loop& loop);

/// The number of datagrams dropped because the buffer was full, since the socket was opened. The
/// counter wraps around.
[[nodiscard]] std::uint32_t kernel_drops(const loop& loop, const descriptor& socket);

/// Memory for the control messages of a datagram, received or sent.
struct datagram_control {
  static constexpr std::size_t size =
      CMSG_SPACE(sizeof(in_pktinfo)) + CMSG_SPACE(sizeof(in6_pktinfo));
  alignas(cmsghdr) std::array<std::byte, size> bytes{};
};

/// Has the kernel report the destination address of each datagram. For a socket bound to all
/// addresses.
void ask_for_sources(int fd, int family);
/// Stores the destination address of a received datagram as the source of `sender`. `received`: as
/// filled in by recvmsg(2).
void note_source(const msghdr& received, socket_address& sender);
/// Sets the source address for a datagram to `destination`; does nothing if `destination` has no
/// source. `room` must live as long as `header`.
void say_source(const socket_address& destination, datagram_control& room, msghdr& header);

}  // namespace strata::loop
