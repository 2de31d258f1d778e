// What raw_socket and packet_ring share: opening an AF_PACKET socket and setting its options.
#pragma once

#include "strata/l2/raw_socket.hpp"
#include "strata/wire/vlan.hpp"

struct sockaddr_ll;

namespace strata::l2 {

/// An AF_PACKET socket with all options set, and not bound: it receives nothing yet.
[[nodiscard]] result<unique_fd> open_packet_socket(const interface& interface,
                                                   const raw_socket_options& options);

/// Binds, from which moment on it receives (if it is to); joins what needs a bound socket.
[[nodiscard]] result<void> bind_packet_socket(int fd, const interface& interface,
                                              const raw_socket_options& options);

/// Sets on a bound socket that a daemon made what its owner may set without privileges.
[[nodiscard]] result<void> set_adopted_options(int fd, const interface& interface,
                                               const raw_socket_options& options);

/// Holds a socket to its filter for good, whoever has it; one that only sends hears nothing.
[[nodiscard]] result<void> confine(int fd, const raw_socket_options& options);

/// Puts a bound socket into a fanout group of its own, which nobody can take it out of: it can join
/// no other's, to take a part of what that hears, and cannot be bound again.
[[nodiscard]] result<void> seclude(int fd, const interface& interface,
                                   const raw_socket_options& options);

/// In place of the filter that a socket has; one that takes all is none.
[[nodiscard]] result<void> replace_filter(int fd, const interface& interface,
                                          const frame_filter& filter);
/// Of a multicast group, or, without one, of promiscuous mode.
[[nodiscard]] result<void> set_membership(int fd, const interface& interface,
                                          const mac_address* group, bool is_member);
[[nodiscard]] result<void> set_receive_buffer(int fd, std::size_t bytes);
[[nodiscard]] result<void> set_send_buffer(int fd, std::size_t bytes);

/// Errors: invalid_argument for what a ring cannot give, and would leave out in silence.
[[nodiscard]] result<void> check_ring_socket(const raw_socket_options& options);
/// Before the kernel is asked for a ring, since it ends other processes where memory is short.
/// `count` pieces of `size` bytes. Errors: limit_exceeded.
[[nodiscard]] result<void> check_ring_memory(std::size_t count, std::size_t size,
                                             const std::string& text);

[[nodiscard]] sockaddr_ll address_of(const interface& interface, std::uint16_t protocol);

/// An error of a send or a receive on `interface`, with what to do about it.
[[nodiscard]] error packet_error(int sys_errno, std::string_view text, const interface& interface);
/// The same of a socket, with the name that the interface has by now.
[[nodiscard]] error packet_error(int fd, int sys_errno, std::string_view text, interface interface);

/// Adds what PACKET_STATISTICS counted since the last call.
[[nodiscard]] result<void> add_statistics(int fd, bool is_v3, const interface& interface,
                                          device_statistics& statistics);

/// What went wrong on a ring's socket since it was last asked. `down` is kept by the ring: the link
/// went down, and nothing has come since.
[[nodiscard]] std::optional<error> take_socket_error(int fd, const interface& interface,
                                                     bool& down);

/// Whether the interface that the socket was bound to has been removed. The kernel tells of that no
/// other way than of a link that goes down (ENETDOWN), and before it has happened.
[[nodiscard]] bool is_removed(int fd);

/// Puts `tag` back into a frame that begins at `first` in a ring, where four bytes are free in
/// front.
void restore_tag(received_frame& frame, std::byte* first, const wire::vlan_tag& tag);

/// Fills `slot` with a copy of `frame`, cut to the slot's memory.
void copy_into(frame_slot& slot, const received_frame& frame);

[[nodiscard]] packet_type packet_type_of(unsigned char sll_pkttype);

}  // namespace strata::l2
