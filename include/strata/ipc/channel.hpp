// Messages between processes of one machine, or of two machines that share a wire, in raw Ethernet
// frames.
//
// All endpoints that open the same channel name on the same interface with the same EtherType
// receive each other's messages, and no others: each channel has its own group address, made from
// its name, and each endpoint its own source address, so that the kernel filters out the frames of
// other channels and the endpoint's own before they cost anything. On lo, all processes of the
// network namespace can meet; on a veth pair, those at its two ends. Needs CAP_NET_RAW, so every
// peer is as trusted as root.
//
// Small messages that wait share one frame, up to the interface's MTU. `send` does not delay
// messages: they wait only if the device has no room, or if the caller asks for it (`post`,
// `send_batch`). A message larger than a frame is sent in fragments. An empty message is a message.
//
// There are two modes, and endpoints of different modes do not understand each other:
//
//   - Unacknowledged: any number of endpoints. Each message is sent to all others, once, in order
//     as far as the interface keeps it. Nothing is retransmitted: a receiver that is too slow loses
//     messages, which `statistics()` counts.
//   - Acknowledged: exactly two endpoints, which find each other. Each message arrives once and in
//     order, even if the wire loses, duplicates, reorders or damages frames. A third endpoint is
//     rejected (errc::conflict after twice the peer timeout) and counted. When the peer closes the
//     channel, dies, or is restarted, the next call on this side returns errc::connection_closed
//     once, with the number of messages that may not have arrived; those are the last ones. The
//     endpoint then looks for a new peer by itself.
//
// The library owns no thread. In acknowledged mode the caller must call `turn` (or any function
// that sends or receives) when `fd()` is readable and at `deadline()`. Otherwise frames are neither
// acknowledged nor retransmitted, and the peer gives this side up after its `peer_timeout`.
//
// A channel belongs to one thread at a time. Sending and receiving allocate no memory per message
// (in acknowledged mode: one allocation per received frame). Linux 4.20 or newer.
#pragma once

#include <chrono>
#include <concepts>
#include <cstddef>
#include <cstdint>
#include <functional>
#include <memory>
#include <optional>
#include <span>
#include <stop_token>
#include <string>
#include <string_view>
#include <vector>

#include "strata/l2/device.hpp"

namespace strata::ipc {

class port;

struct channel_config {
  std::string interface_name = "lo";
  std::string channel = "default";
  std::uint16_t ethertype = 0xAAAA;
  bool acknowledged = false;
  /// Bytes; larger messages are neither sent nor received. Both ends should use the same limit.
  std::size_t max_message = std::size_t{1} << 20U;
  /// Bytes of frames that wait to be sent or acknowledged; holds at least two messages of the
  /// largest size.
  std::size_t send_buffer = std::size_t{4} << 20U;
  /// Bytes of frames that the kernel buffers for this endpoint (SO_RCVBUF; past net.core.rmem_max
  /// only with CAP_NET_ADMIN). In acknowledged mode, at most half of it is offered to the peer as
  /// window.
  std::size_t receive_buffer = std::size_t{8} << 20U;
  /// The longest that a posted message waits for others to share its frame, provided that `turn` is
  /// called at `deadline()`.
  std::chrono::microseconds max_delay{100};
  /// How long `send` and `send_batch` wait for room.
  std::chrono::milliseconds send_timeout{5000};
  /// Acknowledged: gives up a peer that does not answer probes for this time.
  std::chrono::milliseconds peer_timeout{5000};
  /// Unacknowledged: limits for large messages that are partly received, and for senders whose
  /// losses are counted.
  std::size_t max_partial_messages = 16;
  std::size_t max_partial_bytes = std::size_t{16} << 20U;
  std::chrono::milliseconds partial_timeout{1000};
  std::size_t max_senders = 64;
};

/// A message in the receive buffer: valid until the next call that receives or turns.
struct message {
  byte_span bytes;
  /// The id of the sending endpoint: random, and new at each start.
  std::uint64_t sender = 0;
};

struct channel_statistics {
  std::uint64_t messages_sent = 0;  ///< accepted from the caller
  std::uint64_t frames_sent = 0;    ///< accepted by the device
  std::uint64_t messages_received = 0;
  std::uint64_t frames_received = 0;
  /// Unacknowledged: known to be sent by the known senders, but not received.
  std::uint64_t messages_lost = 0;
  std::uint64_t frames_lost = 0;
  /// Frames dropped by the kernel because this side was too slow.
  std::uint64_t dropped = 0;
  std::uint64_t duplicates = 0;
  /// Frames that are damaged, of another mode or version, or from a third party.
  std::uint64_t refused = 0;
  /// Large messages given up: too large, too slow, or too many at once.
  std::uint64_t abandoned = 0;
  std::uint64_t retransmitted = 0;
};

class channel {
 public:
  /// The clock of `deadline`.
  using time_point = std::chrono::steady_clock::time_point;

  /// Errors: not_found (no such interface), permission_denied (and how to grant CAP_NET_RAW),
  /// invalid_argument (an impossible limit).
  [[nodiscard]] static result<channel> create(const channel_config& config = {});
  /// Uses the caller's device; its interface replaces that of `config`. The device may deliver
  /// frames of other channels.
  [[nodiscard]] static result<channel> create(const channel_config& config,
                                              std::unique_ptr<l2::device> device);
  /// A moved-from channel can only be assigned to or destroyed.
  channel(channel&&) noexcept;
  /// As the constructor.
  channel& operator=(channel&&) noexcept;
  /// Sends posted messages, if there is room, and notifies the peer. Messages not yet acknowledged
  /// may be lost: call `finish` first.
  ~channel();

  /// Sends at once, with all waiting messages; waits for room for at most `send_timeout`. In
  /// acknowledged mode the message only needs room in the send buffer, even before there is a peer.
  /// Errors: limit_exceeded (above `max_message`), timed_out, connection_closed (the link is down,
  /// or the peer is gone); after an error the message was not sent and will not be.
  [[nodiscard]] result<void> send(byte_span message);
  /// Sends the bytes of a text, as above.
  template <std::convertible_to<std::string_view> Text>
  [[nodiscard]] result<void> send(const Text& text) {
    return send(as_bytes(text));
  }
  /// Sends each message as `send` does, in as few frames as possible. After an error, messages
  /// before the failed one may have been sent.
  [[nodiscard]] result<void> send_batch(std::span<const byte_span> messages);
  /// Queues a message to share frames with others. It is sent when the queued messages fill 64 KiB
  /// of frames, with `flush`, or at the first `turn` after `max_delay`; at once if nothing was sent
  /// for `max_delay`. Never waits: returns false if there is no room now.
  [[nodiscard]] result<bool> post(byte_span message);
  /// Posts the bytes of a text, as above.
  template <std::convertible_to<std::string_view> Text>
  [[nodiscard]] result<bool> post(const Text& text) {
    return post(as_bytes(text));
  }
  /// Sends posted messages as far as there is room; later calls send the rest.
  [[nodiscard]] result<void> flush();
  /// Waits until everything is sent and, in acknowledged mode, has arrived. Errors: timed_out, with
  /// the number of frames left.
  [[nodiscard]] result<void> finish(std::chrono::milliseconds timeout);

  /// Waits for the next message. Errors: connection_closed.
  [[nodiscard]] result<std::vector<std::byte>> receive();
  /// As `receive`. Errors: also timed_out.
  [[nodiscard]] result<std::vector<std::byte>> receive_with_timeout(
      std::chrono::milliseconds timeout);
  /// Receives the next message; nullopt if none is waiting.
  [[nodiscard]] result<std::optional<std::vector<std::byte>>> try_receive();
  /// As `try_receive`, in place: copies nothing.
  [[nodiscard]] result<std::optional<message>> try_receive_view();
  /// Calls `handler` with each message in place, on the caller's thread, until it returns false or
  /// a stop is requested, which any thread may do. The handler may send. Errors: as `receive`; the
  /// system's, if the process has no more descriptors.
  [[nodiscard]] result<void> receive_each(const std::function<bool(const message&)>& handler,
                                          const std::stop_token& stop = {});

  /// For callers with an event loop: call `turn` when `fd()` is readable, when it is writable if
  /// `wants_to_write()`, and at `deadline()`; then call `try_receive` until it returns nullopt.
  [[nodiscard]] result<void> turn();
  /// -1 over a device that is always ready.
  [[nodiscard]] int fd() const;
  /// Reports whether messages wait for room in the device.
  [[nodiscard]] bool wants_to_write() const;
  /// Returns when `turn` is due; nullopt: not before an event.
  [[nodiscard]] std::optional<time_point> deadline() const;

  /// Returns the interface as it was when the channel was created.
  [[nodiscard]] const l2::interface& link() const;
  /// Acknowledged: reports whether the two ends have found each other.
  [[nodiscard]] bool has_peer() const;
  /// Returns the id of this endpoint, as its peers see it.
  [[nodiscard]] std::uint64_t id() const;
  /// Returns the counters since the channel was created.
  [[nodiscard]] channel_statistics statistics() const;

 private:
  channel(std::unique_ptr<port> port, const channel_config& config);
  [[nodiscard]] result<bool> wait(std::optional<time_point> limit, int other_fd = -1) const;
  [[nodiscard]] result<void> send_waiting();
  [[nodiscard]] result<void> put(byte_span message, std::optional<time_point>& limit);

  std::unique_ptr<port> port_;
  std::chrono::milliseconds send_timeout_;
};

}  // namespace strata::ipc
