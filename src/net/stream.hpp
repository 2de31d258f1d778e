// The byte channel: a connected stream (TCP or Unix) on a loop. Await what comes, push what goes.
//
// It is made before anybody knows what will be spoken on it, and handed on as a `unique_ptr`. One
// coroutine receives. Bytes are received on credit: while nobody awaits them the peer feels it,
// and what had already arrived is moved out of the loop's few buffers into memory of the stream's
// own, so a reader that waits for something else keeps nobody from being heard. Destroying the
// stream closes the connection; coroutines that await room are resumed.
#pragma once

#include <coroutine>
#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "loop/loop.hpp"
#include "loop/source_awaiter.hpp"
#include "net/outbox.hpp"

namespace strata::net {

/// Who is at the two ends of a connection.
struct peer_info {
  loop::socket_address address;  ///< the peer's
  loop::socket_address local;
  std::string tls_subject = {};  ///< of the certificate that the peer has shown; empty: none
};

class tls_context;
struct tls_info;

class stream final : private loop::request, private loop::turn_end_hook {
 public:
  [[nodiscard]] static std::unique_ptr<stream> over(loop::loop& on, loop::descriptor connected) {
    return std::make_unique<stream>(on, std::move(connected));
  }
  stream(loop::loop& on, loop::descriptor connected);
  ~stream() override;
  stream(const stream&) = delete;
  stream& operator=(const stream&) = delete;

  /// Awaits the next bytes. An empty buffer is the end of the stream. Errors: of the connection.
  auto receive() { return loop::source_awaiter(*this); }
  /// The same, until `limit` at the longest: then nullopt. Nothing is lost by that.
  loop::task<std::optional<result<loop::buffer>>> receive(loop::time_point limit);
  /// Gives back what was received last, or its end part: it is what is received next. For whoever
  /// had to look at the first bytes to know who is to read them.
  void unread(loop::buffer&& seen);

  /// Awaits that both ends agree on TLS, until `limit` at the longest: from then on everything here
  /// is plain text. To be called while nothing is unsent; what was given back is read as TLS. The
  /// context says which side this is. `host` is the name or address that the server's certificate
  /// is to be for; a server gives none. After an error, of which the peer has been told, the stream
  /// is good for nothing.
  [[nodiscard]] loop::task<result<void>> start_tls(std::shared_ptr<const tls_context> with,
                                                   std::string host, loop::time_point limit);
  /// What was agreed on; null without TLS.
  [[nodiscard]] const tls_info* tls() const;

  /// Takes bytes to be sent behind all that was pushed before; they go at the turn's end.
  void push(const loop::slice& data) { out_.push(data); }
  void push_copy(byte_span bytes) { out_.push_copy(bytes); }
  /// Takes bytes of a file to be sent behind them: see `outbox::push_file`. Not with TLS.
  void push_file(const loop::file_part& from) { out_.push_file(from); }
  /// Bytes pushed and not yet taken by the kernel.
  [[nodiscard]] std::size_t unsent() const { return out_.bytes(); }
  /// The errno that ended sending, or 0. After it everything pushed is dropped.
  [[nodiscard]] int broken() const { return out_.broken(); }
  [[nodiscard]] outbox& out() { return out_; }

  /// Each awaits until `limit` at the longest and says whether it came true: that no more than
  /// `low` bytes are unsent; that none is; and that the peer's side has acknowledged all, so that
  /// closing loses nothing. A connection that breaks has nothing unsent: look at `broken()`.
  auto writable(std::size_t low, loop::time_point limit = loop::time_point::max()) {
    return out_.room(low, limit);
  }
  auto flushed(loop::time_point limit) { return out_.room(0, limit); }
  auto delivered(loop::time_point limit) { return out_.acknowledged(limit); }

  /// Ends the sending direction, behind what is unsent. Nothing may be pushed after it.
  void end() { out_.end(); }
  /// Ends both directions now: a receive under way ends, what is unsent is lost.
  void abort() { loop_.shut_down(out_.socket()); }

  /// Has the kernel end it when the peer is gone without a word; see `loop::keep_alive`.
  void keep_alive(std::chrono::seconds interval) { loop_.keep_alive(out_.socket(), interval); }
  /// Asked of the kernel at the first call.
  [[nodiscard]] const peer_info& peer() const;

 private:
  friend class loop::source_awaiter<stream>;
  class timed_receive;
  void on_completion(loop::completion done) override;
  void on_turn_end() override;
  /// Sees to it that something is or will be there; says whether it is there now.
  bool prepare();
  result<loop::buffer> take();

  struct arrival {
    int result;
    loop::buffer data;
    bool is_lent;  // in the loop's memory
  };
  struct secured;
  /// Whether `take()` has something to hand over: what has arrived, opened if it is sealed.
  bool has_something();
  loop::task<> hear_out(loop::time_point limit);
  void open_arrived();
  void open_first();
  result<loop::buffer> take_plain();
  [[nodiscard]] static result<loop::buffer> take_first(std::vector<arrival>& from);

  loop::loop& loop_;
  outbox out_;
  std::coroutine_handle<> waiter_;
  std::vector<arrival> arrived_;  // oldest first
  bool ended_ = false;            // the last arrival has been queued
  mutable std::unique_ptr<peer_info> peer_;
  std::unique_ptr<secured> secured_;  // null without TLS
};

}  // namespace strata::net
