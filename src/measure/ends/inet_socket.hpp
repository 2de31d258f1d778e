// The common part of the UDP and TCP paths: sockets with addresses in text form.
#pragma once

#include <netinet/in.h>

#include <cstddef>
#include <cstdint>
#include <string>

#include "strata/base/result.hpp"
#include "strata/base/unique_fd.hpp"

namespace strata::measure {

/// Errors: invalid_argument if `address` is not an IPv4 address.
[[nodiscard]] result<sockaddr_in> inet_address(const std::string& address, std::uint16_t port);

/// Returns the first IPv4 address of an interface; empty if it has none.
[[nodiscard]] std::string address_of_interface(const std::string& interface);

/// Returns a socket of `type` (SOCK_STREAM, SOCK_DGRAM) bound to `address`, on a free port if
/// `port` is 0; its blocking receives return after `timeout_ms`.
[[nodiscard]] result<unique_fd> bound_socket(int type, const std::string& address,
                                             std::uint16_t port, std::size_t receive_buffer);

[[nodiscard]] std::uint16_t port_of(int fd);

/// Errors: that of setsockopt, with `text` as the operation.
[[nodiscard]] result<void> set_option(int fd, int level, int name, int value,
                                      const std::string& text);

/// Returns the number of received datagrams for which there was no room (SO_MEMINFO).
[[nodiscard]] result<std::uint64_t> socket_drops(int fd);

}  // namespace strata::measure
