// AF_PACKET for processes without privileges: a privileged daemon creates the socket, as its policy
// allows, and passes it to the process (`broker/channel.hpp`).
//
// The socket's reception is confined: a filter that cannot be removed (SO_LOCK_FILTER) limits it to
// the requested interface and frames, and a fanout group of its own keeps the owner from binding it
// elsewhere and from joining another program's group. The kernel has no means to forbid the rest,
// so the owner may: send any frame on every interface of the daemon's network namespace, past the
// queueing discipline; make these interfaces promiscuous and members of multicast groups; have the
// kernel allocate memory for rings without a limit; keep the socket, and pass it on. docs/xdp.md
// has the list.
#pragma once

#include <string>

#include "strata/broker/channel.hpp"
#include "strata/l2/raw_socket.hpp"

namespace strata::l2 {

/// A request to a broker.
struct packet_request {
  std::string interface_name;
  frame_filter filter;
  bool receives = true;
  bool ignore_outgoing = true;
  bool promiscuous = false;
};

// --- the daemon's end

/// Parses the message of a request of kind `packet`. Errors: malformed.
[[nodiscard]] result<packet_request> parse_request(byte_span message);
/// Creates the requested socket and passes it on; the daemon keeps nothing. Errors: any error of
/// creating the socket.
[[nodiscard]] result<void> grant_request(int connection, const packet_request& request);

}  // namespace strata::l2
