// One end of a path: what sends messages, what receives them, or both.
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

/// How long a receiver waits before it looks whether it must stop.
inline constexpr int patience_ms = 20;
inline constexpr std::chrono::milliseconds patience{patience_ms};
/// How many messages one system call takes on the batch paths.
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
  std::uint16_t vlan_id = 0;  ///< of the tag, as `priority`
  std::uint8_t priority = 0;
  bool sends = false;
  bool receives = false;
  bool busy = false;       ///< never wait in `receive`
  std::size_t buffer = 0;  ///< the receiver's memory: SO_RCVBUF, or the ring's size
};

class sender {
 public:
  sender() = default;
  sender(const sender&) = delete;
  sender& operator=(const sender&) = delete;
  virtual ~sender() = default;

  /// Sends up to `count` messages, at most `most()`, and says how many the kernel took; waits for
  /// room a little if there is none.
  [[nodiscard]] virtual result<std::size_t> send(const pace& stamps, std::size_t count) = 0;
  [[nodiscard]] virtual std::size_t most() const { return 1; }
  /// Sends what `send` took and kept, to go with what follows.
  [[nodiscard]] virtual result<void> flush() { return {}; }
};

class receiver {
 public:
  receiver() = default;
  receiver(const receiver&) = delete;
  receiver& operator=(const receiver&) = delete;
  virtual ~receiver() = default;

  /// Hands what is there to `tally`, and says how many messages that was; waits for `patience_ms`
  /// at most, and not at all on a busy end.
  [[nodiscard]] virtual result<std::size_t> receive(tally& tally) = 0;
  /// Messages that the kernel took for this receiver and lost, since it was too slow.
  [[nodiscard]] virtual result<std::uint64_t> dropped() = 0;
};

/// On paths that go both ways on one socket, both are the same object.
struct end {
  std::shared_ptr<sender> out;
  std::shared_ptr<receiver> in;
  std::uint16_t port = 0;  ///< where it is to be reached; 0 on paths without ports
};

// The paths. Errors: of the sockets, each saying what could not be done.
[[nodiscard]] result<end> open_tcp(const end_options& options);        ///< a message a call
[[nodiscard]] result<end> open_tcp_batch(const end_options& options);  ///< many a call
[[nodiscard]] result<end> open_udp(const end_options& options);        ///< sendto, recvfrom
[[nodiscard]] result<end> open_udp_batch(const end_options& options);  ///< sendmmsg, recvmmsg
[[nodiscard]] result<end> open_udp_gso(const end_options& options);    ///< UDP_SEGMENT, UDP_GRO
[[nodiscard]] result<end> open_packet(const end_options& options);     ///< sendto, receive
[[nodiscard]] result<end> open_packet_batch(const end_options& options);
[[nodiscard]] result<end> open_packet_bypass(const end_options& options);
[[nodiscard]] result<end> open_send_ring(const end_options& options);    ///< into a V3 ring
[[nodiscard]] result<end> open_packet_ring(const end_options& options);  ///< sendmmsg into V3
[[nodiscard]] result<end> open_frame_ring(const end_options& options);   ///< both ways, V2
[[nodiscard]] result<end> open_xdp_native(const end_options& options);
[[nodiscard]] result<end> open_xdp_busy_poll(const end_options& options);
[[nodiscard]] result<end> open_xdp_generic(const end_options& options);
[[nodiscard]] result<end> open_ipc(const end_options& options);  ///< both ways, packed

}  // namespace strata::measure
