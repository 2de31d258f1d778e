// What the UDP and TCP paths share: sockets with addresses in text.
#pragma once

#include <netinet/in.h>

#include <cstddef>
#include <cstdint>
#include <string>

#include "strata/base/result.hpp"
#include "strata/base/unique_fd.hpp"

namespace strata::measure {

/// Errors: invalid_argument when `address` is no IPv4 address.
[[nodiscard]] result<sockaddr_in> inet_address(const std::string& address, std::uint16_t port);

/// The first IPv4 address of an interface; empty when it has none.
[[nodiscard]] std::string address_of_interface(const std::string& interface);

/// A socket of `type` (SOCK_STREAM, SOCK_DGRAM) that is bound to `address`, some free port if
/// `port` is 0; its blocking receives return after `patience_ms`.
[[nodiscard]] result<unique_fd> bound_socket(int type, const std::string& address,
                                             std::uint16_t port, std::size_t receive_buffer);

[[nodiscard]] std::uint16_t port_of(int fd);

/// Errors: what setsockopt says, about `text`.
[[nodiscard]] result<void> set_option(int fd, int level, int name, int value,
                                      const std::string& text);

/// Datagrams that came and found no room (SO_MEMINFO).
[[nodiscard]] result<std::uint64_t> socket_drops(int fd);

}  // namespace strata::measure
