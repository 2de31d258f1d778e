// A filter for the frames that a socket receives, as a classic BPF program that the kernel runs
// before it copies anything: other traffic wakes no thread.
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
  /// The outermost tag's VID; 0 matches a tag that carries only a priority.
  std::optional<std::uint16_t> vlan_id;
  /// Only frames without a tag. Cannot be combined with `vlan_id`.
  bool untagged = false;
  std::optional<mac_address> source;
  std::optional<mac_address> destination;
  /// Excludes frames from this address: our own, where they come back (lo).
  std::optional<mac_address> not_source;
  /// Excludes frames that this machine sends, for sockets where PACKET_IGNORE_OUTGOING has no
  /// effect: those in a fanout group.
  bool incoming_only = false;
  /// Only frames of this interface. For sockets that others may rebind.
  std::optional<int> interface_index;

  [[nodiscard]] bool takes_all() const;
  /// Returns the program, for SO_ATTACH_FILTER on an AF_PACKET SOCK_RAW socket. The program looks
  /// for the outermost tag where the kernel put it: in the metadata (received frames) or in the
  /// frame (sent frames, seen on their way out).
  [[nodiscard]] std::vector<sock_filter> program() const;

  bool operator==(const frame_filter&) const = default;
};

}  // namespace strata::l2
