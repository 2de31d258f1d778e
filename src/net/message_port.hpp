// Messages to and from one peer, whatever carries them: a stream, where a framing delimits them, or
// datagrams, one message each.
#pragma once

#include <cstdint>
#include <functional>
#include <memory>
#include <optional>
#include <string>
#include <string_view>

#include "loop/task.hpp"
#include "net/loss_watch.hpp"
#include "net/scheme.hpp"
#include "proto/framing.hpp"

namespace strata::net {

/// How much of a message port ends when one side has nothing more to send.
enum class port_end : std::uint8_t {
  none,  ///< nothing: the peer cannot be notified
  half,  ///< our direction; the peer may go on sending
  all,   ///< both directions, after the peer has confirmed
};

/// How a peer ended in good order, or how we end towards it: a WebSocket's close frame.
struct port_farewell {
  std::uint16_t code = 0;  ///< 0 if none was given
  std::string reason;      ///< UTF-8, at most 123 bytes
};

class message_port {
 public:
  using losses = loss_watch::losses;

  /// The callbacks of the owner while the port receives.
  struct receiver {
    std::function<void(std::size_t count)> on_bytes;
    /// The span is valid during the call.
    std::function<void(byte_span message)> on_message;
    /// Called when something was lost and receiving goes on. `is_new`: nothing was lost just
    /// before.
    std::function<void(const error& why, bool is_new)> on_trouble;
    datagram::notice on_notice;
    /// Called for messages that were lost silently. If null, `on_trouble` reports lost outgoing
    /// ones.
    std::function<void(const losses& lost)> on_loss = {};
    /// Waited for before more is received than has arrived; may be null. It holds back the peer if
    /// the port can do that.
    std::function<loop::task<>()> room = {};
    /// An empty datagram is a message too.
    bool receives_empty = false;
  };

  message_port() = default;
  message_port(const message_port&) = delete;
  message_port& operator=(const message_port&) = delete;
  virtual ~message_port() = default;

  /// Receives until there is no more and returns why: connection_closed if the peer has ended,
  /// limit_exceeded if a message is too long.
  virtual loop::task<error> receive(receiver receiver) = 0;

  /// Sends a message. Returns its size in bytes on the wire; nullopt if there is no room.
  [[nodiscard]] virtual std::optional<std::size_t> offer(byte_span message) = 0;
  /// The largest message that can be sent, in bytes.
  [[nodiscard]] virtual std::size_t max_size() const = 0;
  /// Bytes queued to be sent.
  [[nodiscard]] virtual std::size_t unsent() const = 0;
  /// Signals to the peer that nothing more will be sent, if messages can signal that. Offer nothing
  /// after it.
  virtual void end() {}
  /// As `end`, with a farewell for the peer, if messages can carry one.
  virtual void end_with(const port_farewell& /*farewell*/) { end(); }
  /// The farewell of a peer that ended in good order; nullopt: none, or the port cannot carry one.
  [[nodiscard]] virtual std::optional<port_farewell> farewell() const { return std::nullopt; }
  [[nodiscard]] virtual port_end ends() const { return port_end::none; }
  /// The negotiated subprotocol of a WebSocket; empty if there is none.
  [[nodiscard]] virtual std::string_view subprotocol() const { return {}; }
  /// Call it before destroying a broken port: it signals the break to the peer, if it can.
  virtual void break_off() {}
  /// Whether messages can leave: there is a link.
  [[nodiscard]] virtual bool is_up() const { return true; }
  /// Hands offered messages to the kernel. Returns how many of them it refused, as far as that is
  /// known at once; `on_loss` reports these too.
  virtual std::uint64_t flush() { return 0; }
  /// Waits until nothing is queued, until `limit` at most.
  virtual loop::task<> flushed(loop::time_point limit) = 0;
};

/// Makes a port on a connection. `framing` and `max_message` are for streams: the framing, and the
/// longest message received.
[[nodiscard]] std::unique_ptr<message_port> make_message_port(loop::loop& loop,
                                                              connection&& connection,
                                                              proto::framing framing,
                                                              std::size_t max_message);

/// Makes a port that exchanges messages with the first peer that sends one to the address; other
/// peers are ignored. Until then, it has no room for messages.
[[nodiscard]] std::unique_ptr<message_port> make_first_peer_port(
    loop::loop& loop, std::unique_ptr<datagram> datagram);

}  // namespace strata::net
