// One end of a path: its sender, its receiver, or both.
#pragma once

#include <chrono>
#include <cstddef>
#include <cstdint>
#include <memory>
#include <string>

#include "measure/counting/message.hpp"
#include "measure/counting/tally.hpp"
#include "strata/base/mac_address.hpp"
#include "strata/base/result.hpp"

namespace strata::measure {

/// How long a receiver waits before it checks whether it must stop.
inline constexpr int timeout_ms = 20;
inline constexpr std::chrono::milliseconds timeout{timeout_ms};
/// The number of messages per system call on the batch paths.
inline constexpr std::size_t batch_size = 64;

struct end_options {
  std::string interface;
  std::uint32_t mtu = 1500;
  mac_address peer_mac;
  std::string address;       ///< of this end, IPv4
  std::string peer_address;  ///< for the end that sends first
  std::uint16_t peer_port = 0;
  std::size_t payload = 0;
  bool tagged = false;
  std::uint16_t vlan_id = 0;  ///< of the tag, as is `priority`
  std::uint8_t priority = 0;
  bool sends = false;
  bool receives = false;
  bool busy = false;       ///< never wait in `receive`
  std::size_t buffer = 0;  ///< memory of the receiver: SO_RCVBUF, or the size of the ring
};

class sender {
 public:
  sender() = default;
  sender(const sender&) = delete;
  sender& operator=(const sender&) = delete;
  virtual ~sender() = default;

  /// Sends up to `count` messages, at most `most()`, and returns how many the kernel accepted;
  /// waits briefly if there is no room.
  [[nodiscard]] virtual result<std::size_t> send(const pace& stamps, std::size_t count) = 0;
  [[nodiscard]] virtual std::size_t most() const { return 1; }
  /// Sends messages that `send` accepted but held back to combine them with later ones.
  [[nodiscard]] virtual result<void> flush() { return {}; }
};

class receiver {
 public:
  receiver() = default;
  receiver(const receiver&) = delete;
  receiver& operator=(const receiver&) = delete;
  virtual ~receiver() = default;

  /// Passes the available messages to `tally`, and returns how many; waits for at most
  /// `timeout_ms`, and not at all on a busy end.
  [[nodiscard]] virtual result<std::size_t> receive(tally& tally) = 0;
  /// The number of messages that the kernel accepted for this receiver but dropped, because it was
  /// too slow.
  [[nodiscard]] virtual result<std::uint64_t> dropped() = 0;
};

/// On paths that use one socket in both directions, both are the same object.
struct end {
  std::shared_ptr<sender> out;
  std::shared_ptr<receiver> in;
  std::uint16_t port = 0;  ///< its own port; 0 on paths without ports
};

// The paths. Errors: those of the sockets, each naming the operation that failed.
[[nodiscard]] result<end> open_tcp(const end_options& options);        ///< one message per call
[[nodiscard]] result<end> open_tcp_batch(const end_options& options);  ///< many per call
[[nodiscard]] result<end> open_udp(const end_options& options);        ///< sendto, recvfrom
[[nodiscard]] result<end> open_udp_batch(const end_options& options);  ///< sendmmsg, recvmmsg
[[nodiscard]] result<end> open_udp_gso(const end_options& options);    ///< UDP_SEGMENT, UDP_GRO
[[nodiscard]] result<end> open_packet(const end_options& options);     ///< sendto, receive
[[nodiscard]] result<end> open_packet_batch(const end_options& options);
[[nodiscard]] result<end> open_packet_bypass(const end_options& options);
[[nodiscard]] result<end> open_send_ring(const end_options& options);    ///< through a V3 ring
[[nodiscard]] result<end> open_packet_ring(const end_options& options);  ///< sendmmsg; receives
                                                                         ///< from a V3 ring
[[nodiscard]] result<end> open_frame_ring(const end_options& options);   ///< both ways, V2
[[nodiscard]] result<end> open_xdp_native(const end_options& options);
[[nodiscard]] result<end> open_xdp_busy_poll(const end_options& options);
[[nodiscard]] result<end> open_xdp_generic(const end_options& options);
[[nodiscard]] result<end> open_ipc(const end_options& options);  ///< both ways, packed

}  // namespace strata::measure
