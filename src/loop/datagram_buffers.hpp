// What the kernel keeps of a datagram socket, and what it had no room for. The sockets of a
// simulation have none of it.
#pragma once

#include <cstdint>
#include <optional>

#include "loop/loop.hpp"

namespace strata::loop {

/// In bytes, as setsockopt(2) takes them; the kernel reckons with twice as much, for its own use.
struct datagram_buffers {
  std::uint64_t receive = 0;
  std::uint64_t send = 0;
};

/// Asks for other ones, where they are not 0. The kernel gives what the machine allows; more only
/// to a process that has CAP_NET_ADMIN.
void set_buffers(const loop& on, const descriptor& socket, const datagram_buffers& wanted);
[[nodiscard]] datagram_buffers buffers_of(const loop& on, const descriptor& socket);

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
[[nodiscard]] bool has_whole_datagrams(const loop& on);

/// Datagrams that came and were dropped, because the buffer was full, since the socket was opened.
/// It begins again behind its largest value.
[[nodiscard]] std::uint32_t kernel_drops(const loop& on, const descriptor& socket);

}  // namespace strata::loop
