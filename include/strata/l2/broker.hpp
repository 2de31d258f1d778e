// AF_PACKET for processes without privileges: a daemon that has them makes the socket, by its
// policy, and passes it on (`broker/channel.hpp`).
//
// What the socket receives is confined: a filter that cannot be taken away (SO_LOCK_FILTER) holds
// it to the interface and the frames that were asked for, wherever it is bound. What it sends is
// not: its owner may send any frame, on every interface of the daemon's network namespace, and may
// make those interfaces promiscuous. The kernel has nothing that would forbid it.
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
[[nodiscard]] result<void> grant_request(int connection, const packet_request& what);

}  // namespace strata::l2
