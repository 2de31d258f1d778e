// A channel of bytes with one peer: a connection of its own (stream.hpp), or one of several streams
// in a connection. Receive by waiting, send by pushing.
//
// For one loop's thread. One coroutine receives. Bytes are received on credit: the peer is held up
// while no coroutine waits for them. Destroying the channel closes it.
#pragma once

#include <coroutine>
#include <optional>
#include <string>
#include <string_view>

#include "loop/loop.hpp"
#include "loop/source_awaiter.hpp"
#include "loop/task.hpp"

namespace strata::net {

/// The two ends of a connection.
struct peer_info {
  loop::socket_address address;  ///< the peer's address
  loop::socket_address local;
  std::string tls_subject = {};  ///< subject of the peer's certificate; empty if it has none
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

  [[nodiscard]] loop::loop& home() const { return home_; }

  /// Waits for the next bytes. An empty buffer is the end. Errors: those of the connection.
  auto receive() { return loop::source_awaiter<byte_channel>(*this); }
  /// Waits for the next bytes, which `take_ready` then returns: for receivers that wait for long.
  auto ready() { return loop::source_readiness<byte_channel>(*this); }
  [[nodiscard]] result<loop::buffer> take_ready() { return take(); }
  /// As `receive()`, but waits until `limit` at most, then returns nullopt. No bytes are lost.
  auto receive(loop::time_point limit) { return timed_receive(*this, limit); }
  /// As `ready()`, but waits until `limit` at most; returns whether something has arrived.
  auto ready(loop::time_point limit) { return timed_readiness(*this, limit); }

  /// Queues bytes behind all that were pushed before; they are sent at the turn's end.
  virtual void push(const loop::slice& data) = 0;
  void push_copy(byte_span bytes) { push(loop::slice::copy_of(bytes, room_behind_copy)); }
  /// Short data behind a copy (the body behind a head, the end of a chunk) is copied behind it: one
  /// piece costs the kernel less than several.
  static constexpr std::uint32_t room_behind_copy = 512;
  /// Bytes that are pushed and not yet sent.
  [[nodiscard]] virtual std::size_t unsent() const = 0;
  /// The errno that ended sending, or 0. Once it is set, everything pushed is dropped.
  [[nodiscard]] virtual int broken() const = 0;

  /// Both wait until `limit` at most and report whether their condition came true: `flushed`, that
  /// nothing is unsent; `delivered`, that the peer's side has acknowledged everything, so that
  /// closing loses nothing. A broken channel has nothing unsent: check `broken()`.
  [[nodiscard]] loop::task<bool> flushed(loop::time_point limit) { return room(0, limit); }
  [[nodiscard]] virtual loop::task<bool> delivered(loop::time_point limit) = 0;

  /// Waits, until `limit` at most, until no more than `low` bytes are unsent; reports whether that
  /// came true.
  [[nodiscard]] virtual loop::task<bool> room(std::size_t low, loop::time_point limit) = 0;

  /// Ends the sending direction behind what is unsent. Push nothing after it.
  virtual void end() = 0;
  /// Ends both directions now: a pending receive ends, and unsent bytes are lost.
  virtual void abort() = 0;
  /// Call it before destroying a channel that broke: it reports the break to the peer. A clean end
  /// would pass off a part as the whole.
  virtual void break_off() = 0;

  [[nodiscard]] virtual const peer_info& peer() const = 0;
  /// The URL scheme of its connection, `tcp`, `tls` or `unix`. It refers to a literal.
  [[nodiscard]] virtual std::string_view transport() const = 0;

 protected:
  explicit byte_channel(loop::loop& loop) : home_(loop) {}

  friend class loop::source_awaiter<byte_channel>;
  friend class loop::source_readiness<byte_channel>;
  /// Ensures that something has arrived or will arrive; reports whether it has arrived already.
  [[nodiscard]] virtual bool prepare() = 0;
  [[nodiscard]] virtual result<loop::buffer> take() = 0;

  loop::loop& home_;
  std::coroutine_handle<> waiter_;  // resumed when something has arrived

 private:
  /// Part of the frame of the coroutine that waits.
  class [[nodiscard]] timed_readiness : private loop::timer {
   public:
    timed_readiness(byte_channel& channel, loop::time_point limit)
        : channel_(channel), limit_(limit) {}
    timed_readiness(const timed_readiness&) = delete;
    timed_readiness& operator=(const timed_readiness&) = delete;
    ~timed_readiness() override {
      if (waits_) channel_.waiter_ = {};
    }

    [[nodiscard]] bool await_ready() { return channel_.prepare(); }
    void await_suspend(std::coroutine_handle<> self) {
      channel_.waiter_ = self_ = self;
      waits_ = true;
      if (limit_ != loop::time_point::max()) channel_.home_.arm(*this, limit_);
    }
    bool await_resume() {
      waits_ = false;
      disarm();
      return !is_over_;
    }

   protected:
    byte_channel& channel_;

   private:
    void on_timer() override {
      is_over_ = true;
      channel_.waiter_ = {};
      self_.resume();
    }

    loop::time_point limit_;
    std::coroutine_handle<> self_;
    bool waits_ = false;
    bool is_over_ = false;
  };

  class [[nodiscard]] timed_receive : public timed_readiness {
   public:
    using timed_readiness::timed_readiness;
    std::optional<result<loop::buffer>> await_resume() {  // NOLINT(bugprone-derived-*)
      if (!timed_readiness::await_resume()) return std::nullopt;
      return channel_.take();
    }
  };
};

}  // namespace strata::net
