// A channel of bytes with one peer: a connection of its own (stream.hpp), or a part of one that
// carries several. Await what comes, push what goes.
//
// For one loop's thread. One coroutine receives. Bytes are received on credit: while nobody awaits
// them the peer is held up. Destroying the channel closes it.
#pragma once

#include <coroutine>
#include <optional>
#include <string>

#include "loop/loop.hpp"
#include "loop/source_awaiter.hpp"
#include "loop/task.hpp"

namespace strata::net {

/// Who is at the two ends of a connection.
struct peer_info {
  loop::socket_address address;  ///< the peer's
  loop::socket_address local;
  std::string tls_subject = {};  ///< of the certificate that the peer has shown; empty: none
};

/// The process at the other end of a Unix socket.
struct peer_process {
  std::uint32_t user;
  std::int32_t id;
};

class byte_channel {
 public:
  byte_channel(const byte_channel&) = delete;
  byte_channel& operator=(const byte_channel&) = delete;
  virtual ~byte_channel() = default;

  /// Awaits the next bytes. An empty buffer is the end. Errors: of the connection.
  auto receive() { return loop::source_awaiter<byte_channel>(*this); }
  /// Awaits the same, which `take_ready` then gives: for those that wait for long.
  auto ready() { return loop::source_readiness<byte_channel>(*this); }
  [[nodiscard]] result<loop::buffer> take_ready() { return take(); }
  /// The same, until `limit` at the longest: then nullopt. Nothing is lost by that.
  loop::task<std::optional<result<loop::buffer>>> receive(loop::time_point limit);

  /// Takes bytes to be sent behind all that was pushed before; they go at the turn's end.
  virtual void push(const loop::slice& data) = 0;
  void push_copy(byte_span bytes) { push(loop::slice::copy_of(bytes, room_behind_copy)); }
  /// What is short and follows a copy (a head's body, a chunk's end) is copied behind it: one
  /// piece costs the kernel less than several.
  static constexpr std::uint32_t room_behind_copy = 512;
  /// Bytes pushed and not yet on their way.
  [[nodiscard]] virtual std::size_t unsent() const = 0;
  /// The errno that ended sending, or 0. After it everything pushed is dropped.
  [[nodiscard]] virtual int broken() const = 0;

  /// Each awaits until `limit` at the longest and says whether it came true: that nothing is
  /// unsent; and that the peer's side has acknowledged all, so that closing loses nothing. A
  /// channel that breaks has nothing unsent: look at `broken()`.
  [[nodiscard]] loop::task<bool> flushed(loop::time_point limit) { return room(0, limit); }
  [[nodiscard]] virtual loop::task<bool> delivered(loop::time_point limit) = 0;

  /// Awaits, until `limit` at the longest, that no more than `low` bytes are unsent; says whether
  /// that came true.
  [[nodiscard]] virtual loop::task<bool> room(std::size_t low, loop::time_point limit) = 0;

  /// Ends the sending direction, behind what is unsent. Nothing may be pushed after it.
  virtual void end() = 0;
  /// Ends both directions now: a receive under way ends, what is unsent is lost.
  virtual void abort() = 0;
  /// To be destroyed next: its peer is told that the channel broke. A clean end would pass off a
  /// part as the whole.
  virtual void break_off() = 0;

  [[nodiscard]] virtual const peer_info& peer() const = 0;

 protected:
  explicit byte_channel(loop::loop& loop) : home_(loop) {}

  friend class loop::source_awaiter<byte_channel>;
  friend class loop::source_readiness<byte_channel>;
  /// Sees to it that something is or will be there; says whether it is there now.
  [[nodiscard]] virtual bool prepare() = 0;
  [[nodiscard]] virtual result<loop::buffer> take() = 0;

  loop::loop& home_;
  std::coroutine_handle<> waiter_;  // resume it when something has come

 private:
  class timed_receive;
};

}  // namespace strata::net
