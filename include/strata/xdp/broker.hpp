// AF_XDP for processes without privileges: a daemon that has them makes the socket, by its policy,
// and passes it on.
//
// The daemon makes the UMEM (a memfd), the rings and the program, binds the socket, and hands the
// descriptors over by SCM_RIGHTS. A bound socket cannot be bound elsewhere, so whoever gets it has
// that queue and no other. The connection stays open as long as the socket is used: when it closes,
// the daemon takes the program away. Both ends are here; the daemon brings the policy. Linux 6.4 or
// newer: before, nobody can map the rings of a bound socket.
#pragma once

#include <string>
#include <string_view>
#include <vector>

#include "strata/base/unique_fd.hpp"
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

/// Where the daemon listens when nobody says otherwise: $STRATA_XDP_SOCKET, or
/// /run/strata/xdp.sock.
[[nodiscard]] std::string default_broker_path();

/// A socket that a daemon made for this process.
struct brokered_socket {
  socket within;
  bool is_native = false;  ///< of the program; false when it only sends
  unique_fd connection;    ///< close it last: the daemon takes the program away
};

/// Errors: not_found or permission_denied when no daemon can be reached at `path`;
/// permission_denied when its policy forbids it; not_supported before Linux 6.4; and all that the
/// daemon met when it made the socket, in its words.
[[nodiscard]] result<brokered_socket> open_through_daemon(
    const broker_request& what, const std::string& path = default_broker_path());

// --- the daemon's end

/// Who asks, as the kernel tells.
struct broker_peer {
  std::uint32_t user = 0;
  std::vector<std::uint32_t> groups;  ///< its own and the others
  std::int32_t process = 0;
};
[[nodiscard]] result<broker_peer> peer_of(int connection);

/// What was made for someone; to be kept until the connection is closed.
struct grant {
  socket made;
  std::optional<route> brings;
};

/// The request that has come over a SOCK_SEQPACKET connection. Errors: malformed;
/// connection_closed when there will be none.
[[nodiscard]] result<broker_request> read_request(int connection);
/// Makes what is asked for and hands it over. Errors: whatever the making met.
[[nodiscard]] result<grant> grant_request(int connection, const broker_request& what);
void refuse_request(int connection, const error& why);

}  // namespace strata::xdp
