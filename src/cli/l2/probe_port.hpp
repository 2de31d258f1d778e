// The socket of the verbs that measure a link: probes in frames of one EtherType, out and in.
#pragma once

#include <functional>
#include <string>
#include <vector>

#include "cli/line/invocation.hpp"
#include "strata/l2/raw_socket.hpp"
#include "strata/wire/ethernet.hpp"
#include "strata/wire/probe.hpp"

namespace strata::cli {

/// One thread. What is heard is of the EtherType and, if one was asked for, of the VLAN.
class probe_port {
 public:
  struct heard {
    const l2::received_frame& frame;
    wire::ethernet_view view;
    std::optional<wire::probe> what;  ///< nullopt: a foreign frame
  };

  /// By --ethertype, --vlan and --through-daemon, on the interface that is the verb's first word.
  /// `options` has what the flags do not say.
  static outcome<probe_port> open(const invocation& call, l2::raw_socket_options options = {});

  /// Waits until something is there, or for `most`, and hands over what there is. A link that goes
  /// down is told on standard error, and may come back. Errors: the interface is gone.
  outcome<> hear(std::chrono::milliseconds most, const std::function<void(const heard&)>& take);

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

/// A frame with a probe, by --size, --vlan and --prio, to be sent again and again.
class probe_frame {
 public:
  /// To the address that is the verb's second word. Errors: misused.
  static outcome<probe_frame> make(const invocation& call, const probe_port& port);

  /// The bytes with this probe in them, valid until the next call.
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

/// A number that no other ping or flood has.
[[nodiscard]] std::uint64_t random_run();

}  // namespace strata::cli
