// Which frames a socket is to see, as a classic BPF program that the kernel runs before it copies
// anything: foreign traffic wakes nobody.
#pragma once

#include <cstdint>
#include <optional>
#include <vector>

#include "strata/base/mac_address.hpp"

struct sock_filter;

namespace strata::l2 {

struct frame_filter {
  /// Behind all VLAN tags.
  std::optional<std::uint16_t> ethertype;
  /// The outermost tag's VID; 0 is a tag that only gives a priority.
  std::optional<std::uint16_t> vlan_id;
  /// No tag at all. Not together with `vlan_id`.
  bool untagged = false;
  std::optional<mac_address> source;
  std::optional<mac_address> destination;
  /// Not from this address: what we sent ourselves, where it comes back (lo).
  std::optional<mac_address> not_source;
  /// Not what this machine sends, for where PACKET_IGNORE_OUTGOING does not count: in a fanout.
  bool incoming_only = false;
  /// Of this interface. For sockets that others may bind again.
  std::optional<int> interface_index;

  [[nodiscard]] bool takes_all() const;
  /// The program, for SO_ATTACH_FILTER on an AF_PACKET SOCK_RAW socket. It looks for the outermost
  /// tag where the kernel put it: beside the frame (received) or in it (sent, seen on its way out).
  [[nodiscard]] std::vector<sock_filter> program() const;

  bool operator==(const frame_filter&) const = default;
};

}  // namespace strata::l2
