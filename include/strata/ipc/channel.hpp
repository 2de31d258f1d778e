// Messages between processes of one machine, or of two that share a wire, in raw Ethernet frames.
//
// All that open the same channel name on the same interface with the same EtherType hear each
// other, and nobody else: each channel has a group address of its own, made from its name, and each
// endpoint a source address of its own, by which the kernel leaves out other channels' frames and
// one's own before they cost anything. On lo, all processes of the network namespace can meet; on a
// veth pair, those at its two ends. Needs CAP_NET_RAW, so every peer is as trusted as root.
//
// Small messages that wait go together in one frame, up to the interface's MTU. `send` makes none
// wait: they do when the device has no room, or when the caller says so (`post`, `send_batch`).
// What is larger than a frame goes in pieces. An empty message is a message.
//
// There are two modes, and endpoints of different modes do not understand each other:
//
//   - Unacknowledged: any number of endpoints. Each message goes to all others, once, in order as
//     far as the interface keeps it. Nothing is sent again: a receiver that is too slow loses
//     messages, which `statistics()` counts.
//   - Acknowledged: exactly two endpoints, which find each other. Each message arrives once and in
//     order, whatever the wire loses, doubles, reorders or damages. A third endpoint is refused
//     (errc::conflict after twice the peer timeout) and counted. When the peer closes the channel,
//     dies, or is restarted, each side is told so once, by errc::connection_closed from whatever
//     it calls next, with the number of messages that may not have arrived; those were the last
//     ones. Then it looks for a new peer by itself.
//
// The library owns no thread. In acknowledged mode something must be called (`turn`, or any call
// that sends or receives) when `fd()` is readable and at `deadline()`, or frames are not
// acknowledged and not sent again, and the peer believes this side dead after its `peer_timeout`.
//
// A channel belongs to one thread at a time. Sending and receiving allocate no memory for each
// message (in acknowledged mode: for each frame received). Linux 4.20 or newer.
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
  /// Bytes; larger messages are neither sent nor received. Both ends should agree.
  std::size_t max_message = std::size_t{1} << 20U;
  /// Bytes of frames that wait to be sent or to be acknowledged; holds at least two of the largest
  /// messages.
  std::size_t send_buffer = std::size_t{4} << 20U;
  /// Bytes of frames that the kernel keeps for us (SO_RCVBUF; past net.core.rmem_max only with
  /// CAP_NET_ADMIN). In acknowledged mode, at most half of it is offered to the peer as room.
  std::size_t receive_buffer = std::size_t{8} << 20U;
  /// The longest that a posted message waits for others to share its frame, provided that `turn`
  /// is called at `deadline()`.
  std::chrono::microseconds max_delay{100};
  /// How long `send` and `send_batch` wait for room.
  std::chrono::milliseconds send_timeout{5000};
  /// Acknowledged: a peer that is asked and says nothing for this time is given up.
  std::chrono::milliseconds peer_timeout{5000};
  /// Unacknowledged: bounds on large messages of which only a part is there, and on senders whose
  /// losses are counted.
  std::size_t max_partial_messages = 16;
  std::size_t max_partial_bytes = std::size_t{16} << 20U;
  std::chrono::milliseconds partial_timeout{1000};
  std::size_t max_senders = 64;
};

/// A message where it was received: valid until the next call that receives or turns.
struct message {
  byte_span bytes;
  /// The endpoint that sent it: random, and another one after each start.
  std::uint64_t sender = 0;
};

struct channel_statistics {
  std::uint64_t messages_sent = 0;  ///< taken from the caller
  std::uint64_t frames_sent = 0;    ///< taken by the device
  std::uint64_t messages_received = 0;
  std::uint64_t frames_received = 0;
  /// Unacknowledged: known to be sent by those that were heard, and not received.
  std::uint64_t messages_lost = 0;
  std::uint64_t frames_lost = 0;
  /// By the kernel, since this side was too slow.
  std::uint64_t dropped = 0;
  std::uint64_t duplicates = 0;
  /// Frames that are damaged, of another mode or version, or of a third party.
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
  /// invalid_argument (a limit that cannot be right).
  [[nodiscard]] static result<channel> create(const channel_config& config = {});
  /// Over a device of one's own; its interface counts, not that of `config`. Frames of other
  /// channels may come from it.
  [[nodiscard]] static result<channel> create(const channel_config& config,
                                              std::unique_ptr<l2::device> device);
  /// The channel that was moved from can only be assigned to or destroyed.
  channel(channel&&) noexcept;
  /// As the constructor.
  channel& operator=(channel&&) noexcept;
  /// Sends what was posted, if there is room, and tells the peer. What is not acknowledged by then
  /// may be lost: `finish` before.
  ~channel();

  /// Sends at once, with all that waits; waits for room for at most `send_timeout`. In acknowledged
  /// mode it is enough that the message finds room in the send buffer, also before there is a peer.
  /// Errors: limit_exceeded (above `max_message`), timed_out, connection_closed (the link is down,
  /// or the peer is gone); after an error the message was not sent and will not be.
  [[nodiscard]] result<void> send(byte_span message);
  /// The same with the bytes of a text as the message.
  template <std::convertible_to<std::string_view> Text>
  [[nodiscard]] result<void> send(const Text& text) {
    return send(as_bytes(text));
  }
  /// As `send` each of them, in as few frames as hold them. After an error, those before the one
  /// that failed may have been sent.
  [[nodiscard]] result<void> send_batch(std::span<const byte_span> messages);
  /// Leaves a message to go together with others: when they fill 64 KiB of frames, with
  /// `flush`, or at the first `turn` after `max_delay`; at once when nothing went out for
  /// `max_delay`. Never waits: false when there is no room now.
  [[nodiscard]] result<bool> post(byte_span message);
  /// The same with the bytes of a text as the message.
  template <std::convertible_to<std::string_view> Text>
  [[nodiscard]] result<bool> post(const Text& text) {
    return post(as_bytes(text));
  }
  /// Sends what was posted, as far as there is room; the rest goes with later calls.
  [[nodiscard]] result<void> flush();
  /// Waits until all is sent, and in acknowledged mode has arrived. Errors: timed_out, with the
  /// number of frames left.
  [[nodiscard]] result<void> finish(std::chrono::milliseconds timeout);

  /// Waits for the next message. Errors: connection_closed.
  [[nodiscard]] result<std::vector<std::byte>> receive();
  /// Errors: timed_out as well.
  [[nodiscard]] result<std::vector<std::byte>> receive_with_timeout(
      std::chrono::milliseconds timeout);
  /// nullopt when there is none now.
  [[nodiscard]] result<std::optional<std::vector<std::byte>>> try_receive();
  /// The same in place: nothing is copied.
  [[nodiscard]] result<std::optional<message>> try_receive_view();
  /// Calls `handler` with each message in place, in the caller's thread, until it returns false or
  /// a stop is requested, by another thread too. The handler may send. Errors: as `receive`; the
  /// system's, where the process has no more descriptors.
  [[nodiscard]] result<void> receive_each(const std::function<bool(const message&)>& handler,
                                          const std::stop_token& stop = {});

  /// For those who have a loop of their own: call `turn` when `fd()` is readable, when it is
  /// writable if `wants_to_write()`, and at `deadline()`; then `try_receive` until there is
  /// nothing.
  [[nodiscard]] result<void> turn();
  /// -1 over a device that is always ready.
  [[nodiscard]] int fd() const;
  /// Messages wait for room in the device.
  [[nodiscard]] bool wants_to_write() const;
  /// When `turn` is due; nullopt: not before something happens.
  [[nodiscard]] std::optional<time_point> deadline() const;

  /// The interface as it was at the beginning.
  [[nodiscard]] const l2::interface& link() const;
  /// Acknowledged: the two ends have found each other.
  [[nodiscard]] bool has_peer() const;
  /// Of this endpoint, as its peers see it.
  [[nodiscard]] std::uint64_t id() const;
  /// Since the channel was made.
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
