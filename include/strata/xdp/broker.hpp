// AF_XDP for processes without privileges: a daemon that has them makes the socket, by its policy,
// and passes it on (`broker/channel.hpp`).
//
// The daemon makes the UMEM (a memfd), the rings and the program, binds the socket, and hands the
// descriptors over. A bound socket cannot be bound elsewhere, so whoever gets it has that queue and
// no other. When the connection closes, the daemon takes the program away. Both ends are here.
// Linux 6.4 or newer: before, nobody can map the rings of a bound socket.
#pragma once

#include <string>

#include "strata/broker/channel.hpp"
#include "strata/xdp/program.hpp"
#include "strata/xdp/socket.hpp"

namespace strata::xdp {

/// What is asked of a broker.
struct broker_request {
  std::string interface_name;
  std::uint32_t queue = 0;
  filter which;
  attach_mode attach = attach_mode::automatic;
  umem_options memory;    ///< no huge pages
  socket_options socket;  ///< with a `receive_size` of 0 no program is attached
};

/// A socket that a daemon made for this process.
struct brokered_socket {
  socket within;
  bool is_native = false;  ///< of the program; false when it only sends
  unique_fd connection;    ///< close it last: the daemon takes the program away
};

/// Errors: those of `broker::ask`; not_supported before Linux 6.4; and all that the daemon met when
/// it made the socket, in its words.
[[nodiscard]] result<brokered_socket> open_through_daemon(
    const broker_request& request, const std::string& path = broker::default_path());

// --- the daemon's end

/// What was made for someone; to be kept until the connection is closed.
struct grant {
  socket made;
  std::optional<route> brings;
};

/// The message of a request of kind `xdp`. Errors: malformed.
[[nodiscard]] result<broker_request> parse_request(byte_span message);
/// Makes what is asked for and hands it over. Errors: whatever the making met.
[[nodiscard]] result<grant> grant_request(int connection, const broker_request& request);

}  // namespace strata::xdp
