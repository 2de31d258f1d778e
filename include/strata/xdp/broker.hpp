// AF_XDP for processes without privileges: a privileged daemon creates the socket, as its policy
// allows, and passes it to the process (`broker/channel.hpp`).
//
// The daemon creates the UMEM (a memfd), the rings and the program, binds the socket, and passes
// the descriptors. A bound socket cannot be bound elsewhere, so its receiver has this queue and no
// other. When the connection closes, the daemon removes the program. This header has both ends.
// Linux 6.4 or newer: older kernels cannot map the rings of a bound socket.
#pragma once

#include <string>

#include "strata/broker/channel.hpp"
#include "strata/xdp/program.hpp"
#include "strata/xdp/socket.hpp"

namespace strata::xdp {

/// A request to a broker.
struct broker_request {
  std::string interface_name;
  std::uint32_t queue = 0;
  filter which;
  attach_mode attach = attach_mode::automatic;
  umem_options memory;    ///< without huge pages
  socket_options socket;  ///< with a `receive_size` of 0 no program is attached
};

/// A socket that a daemon created for this process.
struct brokered_socket {
  socket within;
  bool is_native = false;  ///< the program's mode; false for a socket that only sends
  unique_fd connection;    ///< close it last: the daemon then removes the program
};

/// Requests a socket from the daemon. Errors: those of `broker::ask`; not_supported before Linux
/// 6.4; and any error of the daemon while creating the socket, in the daemon's words.
[[nodiscard]] result<brokered_socket> open_through_daemon(
    const broker_request& request, const std::string& path = broker::default_path());

// --- the daemon's end

/// What the daemon created for a client; keep it until the connection is closed.
struct grant {
  socket made;
  std::optional<route> brings;
};

/// Parses the message of a request of kind `xdp`. Errors: malformed.
[[nodiscard]] result<broker_request> parse_request(byte_span message);
/// Creates the requested socket and passes it on. Errors: any error of creating the socket.
[[nodiscard]] result<grant> grant_request(int connection, const broker_request& request);

}  // namespace strata::xdp
