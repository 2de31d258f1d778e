// Messages to and from one peer, however they travel: on a stream, where a framing says where each
// ends, or one in a datagram.
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
  none,  ///< nothing: the peer cannot be told
  half,  ///< that direction; the peer may go on
  all,   ///< both directions, after the peer has agreed
};

/// How a peer ended in good order, or is to be told that we do: a WebSocket's close frame.
struct port_farewell {
  std::uint16_t code = 0;  ///< 0: none was given
  std::string reason;      ///< UTF-8, at most 123 bytes
};

class message_port {
 public:
  using losses = loss_watch::losses;

  /// What its owner is told while it receives.
  struct ears {
    std::function<void(std::size_t count)> on_bytes;
    /// The span is valid during the call.
    std::function<void(byte_span message)> on_message;
    /// Something was lost and it goes on. `is_new`: nothing was lost just before.
    std::function<void(const error& why, bool is_new)> on_trouble;
    datagram::notice on_notice;
    /// Messages were lost in silence. Empty: `on_trouble` tells of those that were sent.
    std::function<void(const losses& lost)> on_loss = {};
    /// Awaited before more is received than has come; may be empty. It holds back the peer, where
    /// there is a way to.
    std::function<loop::task<>()> room = {};
    /// An empty datagram is a message too.
    bool hears_empty = false;
  };

  message_port() = default;
  message_port(const message_port&) = delete;
  message_port& operator=(const message_port&) = delete;
  virtual ~message_port() = default;

  /// Receives until there is no more, and says why: connection_closed when the peer has ended it,
  /// limit_exceeded when a message is too long.
  virtual loop::task<error> receive(ears ears) = 0;

  /// Sends a message. The bytes that it is on the wire; nullopt when there is no room for it.
  [[nodiscard]] virtual std::optional<std::size_t> offer(byte_span message) = 0;
  /// The largest that can be sent, in bytes.
  [[nodiscard]] virtual std::size_t max_size() const = 0;
  /// Bytes that wait to be sent.
  [[nodiscard]] virtual std::size_t unsent() const = 0;
  /// Tells the peer that nothing more will be sent, where messages have a way to say so. Nothing
  /// can be offered after it.
  virtual void end() {}
  /// The same, with what the peer is told, where messages have a way to say so.
  virtual void end_with(const port_farewell& /*farewell*/) { end(); }
  /// What the peer said when it ended in good order; nullopt: nothing, or it has no way to.
  [[nodiscard]] virtual std::optional<port_farewell> farewell() const { return std::nullopt; }
  [[nodiscard]] virtual port_end ends() const { return port_end::none; }
  /// The protocol that was agreed on for what the messages say, of a WebSocket; empty: none.
  [[nodiscard]] virtual std::string_view subprotocol() const { return {}; }
  /// To be destroyed next: the peer is told that it was broken, where it can be.
  virtual void break_off() {}
  /// Messages can get away: there is a link.
  [[nodiscard]] virtual bool is_up() const { return true; }
  /// Hands what was offered to the kernel. Gives how many of these messages that has refused, as
  /// far as it is known at once; `on_loss` tells of them too.
  virtual std::uint64_t flush() { return 0; }
  /// Awaits that none waits, until `limit` at the longest.
  virtual loop::task<> flushed(loop::time_point limit) = 0;
};

/// `framing` and `max_message` are for streams: the framing, and the longest message received.
[[nodiscard]] std::unique_ptr<message_port> make_message_port(loop::loop& loop,
                                                              connection&& connection,
                                                              proto::framing framing,
                                                              std::size_t max_message);

/// Messages with the first peer that sends one to an address; others are not heard. Before that,
/// there is no room for any.
[[nodiscard]] std::unique_ptr<message_port> make_first_peer_port(
    loop::loop& loop, std::unique_ptr<datagram> datagram);

}  // namespace strata::net
