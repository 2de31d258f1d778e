// The socket of the verbs that measure a link: sends and receives probes in frames of one
// EtherType.
#pragma once

#include <functional>
#include <string>
#include <vector>

#include "cli/line/invocation.hpp"
#include "strata/l2/raw_socket.hpp"
#include "strata/wire/ethernet.hpp"
#include "strata/wire/probe.hpp"

namespace strata::cli {

/// For one thread. Received frames are of the EtherType and, if given, of the VLAN.
class probe_port {
 public:
  struct received {
    const l2::received_frame& frame;
    wire::ethernet_view view;
    std::optional<wire::probe> what;  ///< nullopt: not one of ours
  };

  /// Opens the interface that is the verb's first word, with --ethertype, --vlan and
  /// --through-daemon. `options` has what the flags do not set.
  static outcome<probe_port> open(const invocation& call, l2::raw_socket_options options = {});

  /// Waits until frames have arrived, or for `most`, and passes on what has arrived. A link that
  /// goes down is reported on standard error, and may come back. Errors: the interface is gone.
  outcome<> receive(std::chrono::milliseconds most,
                    const std::function<void(const received&)>& take);

  [[nodiscard]] l2::raw_socket& socket() { return socket_; }
  [[nodiscard]] const l2::interface& link() const { return socket_.link(); }
  [[nodiscard]] std::uint16_t ethertype() const { return ethertype_; }

 private:
  probe_port(l2::raw_socket socket, std::uint16_t ethertype, bool receives);

  l2::raw_socket socket_;
  std::uint16_t ethertype_;
  std::vector<std::byte> memory_;
  std::vector<l2::frame_slot> slots_;
};

/// A frame with a probe, from --size, --vlan and --prio, to be sent repeatedly.
class probe_frame {
 public:
  /// Makes a frame to the address that is the verb's second word. Errors: misused.
  static outcome<probe_frame> make(const invocation& call, const probe_port& port);

  /// The frame's bytes with this probe, valid until the next call.
  [[nodiscard]] byte_span with(const wire::probe& probe);
  [[nodiscard]] const mac_address& destination() const { return destination_; }
  /// Bytes behind the Ethernet header.
  [[nodiscard]] std::size_t payload() const { return payload_; }

 private:
  mac_address destination_;
  std::size_t payload_ = 0;
  std::size_t probe_at_ = 0;
  std::vector<std::byte> bytes_;
};

/// A number that distinguishes this ping or flood from all others.
[[nodiscard]] std::uint64_t random_run();

}  // namespace strata::cli
