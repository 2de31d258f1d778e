// TCP for the hybrid endpoint's handshake: each call ends at its deadline, whatever the peer does.
#pragma once

#include <chrono>
#include <cstdint>
#include <string>
#include <string_view>

#include "strata/base/bytes.hpp"
#include "strata/base/result.hpp"
#include "strata/base/unique_fd.hpp"

namespace strata::ipc {

using deadline = std::chrono::steady_clock::time_point;

/// Opens a listening socket. `address` is numeric; empty means all, IPv4 and IPv6. Port 0 takes a
/// free one.
[[nodiscard]] result<unique_fd> listen_tcp(const std::string& address, std::uint16_t port);
[[nodiscard]] std::uint16_t port_of(int fd);
/// Accepts the next client. Errors: timed_out.
[[nodiscard]] result<unique_fd> accept_tcp(int listening, deadline limit);
/// Connects to `host`, a numeric address, and retries while it refuses. Errors: timed_out, with the
/// last refusal; invalid_argument.
[[nodiscard]] result<unique_fd> connect_tcp(std::string_view host, std::uint16_t port,
                                            deadline limit);
/// Reads or writes all of `bytes`, however many calls it takes. `purpose` follows "cannot". Errors:
/// timed_out, connection_closed.
[[nodiscard]] result<void> read_all(int fd, mutable_byte_span bytes, deadline limit,
                                    const std::string& purpose);
[[nodiscard]] result<void> write_all(int fd, byte_span bytes, deadline limit,
                                     const std::string& purpose);
/// Sets the connection to fail when the peer's machine is silent for `patience`.
[[nodiscard]] result<void> watch_peer(int fd, std::chrono::milliseconds patience);

}  // namespace strata::ipc
