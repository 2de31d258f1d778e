// AF_PACKET for processes without privileges: a daemon that has them makes the socket, by its
// policy, and passes it on (`broker/channel.hpp`).
//
// What the socket receives is confined: a filter that cannot be taken away (SO_LOCK_FILTER) holds
// it to the interface and the frames that were asked for, and a fanout group of its own keeps it
// from being bound elsewhere and from joining another program's group. Everything else its owner
// may do, since the kernel has nothing that would forbid it: send any frame, on every interface of
// the daemon's network namespace, past the queueing discipline; make these interfaces promiscuous
// and members of multicast groups; have the kernel give memory for rings without a limit; keep the
// socket, and give it away. docs/xdp.md has the list.
#pragma once

#include <string>

#include "strata/broker/channel.hpp"
#include "strata/l2/raw_socket.hpp"

namespace strata::l2 {

/// What is asked of a broker.
struct packet_request {
  std::string interface_name;
  frame_filter filter;
  bool receives = true;
  bool ignore_outgoing = true;
  bool promiscuous = false;
};

// --- the daemon's end

/// The message of a request of kind `packet`. Errors: malformed.
[[nodiscard]] result<packet_request> parse_request(byte_span message);
/// Makes what is asked for and hands it over; nothing stays with the daemon. Errors: whatever the
/// making met.
[[nodiscard]] result<void> grant_request(int connection, const packet_request& request);

}  // namespace strata::l2
