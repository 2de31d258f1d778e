// The common part of raw_socket and packet_ring: opens an AF_PACKET socket and sets its options.
#pragma once

#include "strata/l2/raw_socket.hpp"
#include "strata/wire/vlan.hpp"

struct sockaddr_ll;

namespace strata::l2 {

/// Opens an AF_PACKET socket with all options set but not bound: it receives nothing yet.
[[nodiscard]] result<unique_fd> open_packet_socket(const interface& interface,
                                                   const raw_socket_options& options);

/// Binds the socket, which receives from then on (if it is to), and joins groups, which needs a
/// bound socket.
[[nodiscard]] result<void> bind_packet_socket(int fd, const interface& interface,
                                              const raw_socket_options& options);

/// Sets the options that need no privileges on a bound socket that a daemon created.
[[nodiscard]] result<void> set_adopted_options(int fd, const interface& interface,
                                               const raw_socket_options& options);

/// Locks a socket to its filter permanently, for every owner; a send-only socket receives nothing.
[[nodiscard]] result<void> confine(int fd, const raw_socket_options& options);

/// Puts a bound socket into a fanout group of its own, from which it cannot be removed: so it can
/// neither join another group, to take a part of its frames, nor be bound again.
[[nodiscard]] result<void> seclude(int fd, const interface& interface,
                                   const raw_socket_options& options);

/// Replaces a socket's filter; a filter that accepts all frames removes it.
[[nodiscard]] result<void> replace_filter(int fd, const interface& interface,
                                          const frame_filter& filter);
/// Sets membership of a multicast group or, without one, promiscuous mode.
[[nodiscard]] result<void> set_membership(int fd, const interface& interface,
                                          const mac_address* group, bool is_member);
[[nodiscard]] result<void> set_receive_buffer(int fd, std::size_t bytes);
[[nodiscard]] result<void> set_send_buffer(int fd, std::size_t bytes);

/// Errors: invalid_argument for options that a ring cannot support, and would silently ignore.
[[nodiscard]] result<void> check_ring_socket(const raw_socket_options& options);
/// Checks a ring's size, `count` pieces of `size` bytes, before requesting it from the kernel,
/// which ends other processes if memory is short. Errors: limit_exceeded.
[[nodiscard]] result<void> check_ring_memory(std::size_t count, std::size_t size,
                                             const std::string& text);

[[nodiscard]] sockaddr_ll address_of(const interface& interface, std::uint16_t protocol);

/// Returns the error of a send or receive on `interface`, with its remedy.
[[nodiscard]] error packet_error(int sys_errno, std::string_view text, const interface& interface);
/// As above, with the interface's current name, which it gets through the socket `fd`.
[[nodiscard]] error packet_error(int fd, int sys_errno, std::string_view text, interface interface);

/// Adds what PACKET_STATISTICS counted since the last call.
[[nodiscard]] result<void> add_statistics(int fd, bool is_v3, const interface& interface,
                                          device_statistics& statistics);

/// Returns the error on a ring's socket since the last call, if there is one. The ring keeps
/// `down`: the link went down, and no frame has arrived since.
[[nodiscard]] std::optional<error> take_socket_error(int fd, const interface& interface,
                                                     bool& down);

/// Reports whether the interface to which the socket was bound has been removed. The kernel reports
/// a removal as a link that goes down (ENETDOWN), and before the removal has happened.
[[nodiscard]] bool is_removed(int fd);

/// Puts `tag` back into a frame that begins at `first` in a ring, with four free bytes in front.
void restore_tag(received_frame& frame, std::byte* first, const wire::vlan_tag& tag);

/// Fills `slot` with a copy of `frame`, truncated to the slot's memory.
void copy_into(frame_slot& slot, const received_frame& frame);

[[nodiscard]] packet_type packet_type_of(unsigned char sll_pkttype);

}  // namespace strata::l2
