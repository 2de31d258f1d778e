// The byte channel that is a connection: a stream (TCP or Unix) on a loop.
//
// It is made before anybody knows what will be spoken on it, and handed on as a `unique_ptr`. One
// coroutine receives. Bytes are received on credit: while nobody awaits them the peer feels it,
// and what had already arrived is moved out of the loop's few buffers into memory of the stream's
// own, so a reader that waits for something else keeps nobody from being heard. Destroying the
// stream closes the connection; coroutines that await room are resumed.
#pragma once

#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "loop/loop.hpp"
#include "loop/source_awaiter.hpp"
#include "net/byte_channel.hpp"
#include "net/outbox.hpp"

namespace strata::net {

class tls_context;
struct tls_info;

class stream final : public byte_channel, private loop::request, private loop::turn_end_hook {
 public:
  [[nodiscard]] static std::unique_ptr<stream> over(loop::loop& loop, loop::descriptor connected) {
    return std::make_unique<stream>(loop, std::move(connected));
  }
  stream(loop::loop& loop, loop::descriptor connected);
  ~stream() override;
  stream(const stream&) = delete;
  stream& operator=(const stream&) = delete;

  /// As of any channel; without virtual calls, as the type is known.
  // NOLINTNEXTLINE(bugprone-derived-method-shadowing-base-method): they do the same.
  auto receive() { return loop::source_awaiter(*this); }
  using byte_channel::receive;
  /// Gives back what was received last, or its end part: it is what is received next. For whoever
  /// had to look at the first bytes to know who is to read them.
  void unread(loop::buffer&& seen);

  /// Awaits that both ends agree on TLS, until `limit` at the longest: from then on everything here
  /// is plain text. To be called while nothing is unsent; what was given back is read as TLS. The
  /// context says which side this is. `host` is the name or address that the server's certificate
  /// is to be for; a server gives none. After an error, of which the peer has been told, the stream
  /// is good for nothing.
  [[nodiscard]] loop::task<result<void>> start_tls(std::shared_ptr<const tls_context> context,
                                                   std::string host, loop::time_point limit);
  /// What was agreed on; null without TLS.
  [[nodiscard]] const tls_info* tls() const;

  void push(const loop::slice& data) override { out_.push(data); }
  /// Takes bytes of a file to be sent behind them: see `outbox::push_file`. Not with TLS.
  void push_file(const loop::file_part& part) { out_.push_file(part); }
  /// Bytes pushed and not yet taken by the kernel.
  [[nodiscard]] std::size_t unsent() const override { return out_.bytes(); }
  /// Bytes of memory that what is unsent takes: a file's bytes take none.
  [[nodiscard]] std::size_t unsent_in_memory() const { return out_.bytes_in_memory(); }
  /// Bytes that the kernel has taken.
  [[nodiscard]] std::uint64_t sent() const { return out_.pushed() - out_.bytes(); }
  [[nodiscard]] int broken() const override { return out_.broken(); }
  [[nodiscard]] outbox& out() { return out_; }

  /// Awaits, until `limit` at the longest, that no more than `low` bytes are unsent; says whether
  /// that came true.
  auto writable(std::size_t low, loop::time_point limit = loop::time_point::max()) {
    return out_.room(low, limit);
  }
  [[nodiscard]] loop::task<bool> room(std::size_t low, loop::time_point limit) override;
  [[nodiscard]] loop::task<bool> delivered(loop::time_point limit) override;

  void end() override { out_.end(); }
  void abort() override { home_.shut_down(out_.socket()); }
  /// As `abort`, when what was said is whole: TLS ends in good order, unless something is unsent.
  void leave();
  void break_off() override;

  /// Has the kernel end it when the peer is gone without a word; see `loop::keep_alive`.
  void keep_alive(std::chrono::seconds interval) { home_.keep_alive(out_.socket(), interval); }
  /// Asked of the kernel at the first call.
  [[nodiscard]] const peer_info& peer() const override;
  /// Asked of the kernel. Nullopt: it is no Unix socket.
  [[nodiscard]] std::optional<peer_process> process() const;
  /// Whoever has connected speaks for this client, which has connected to `local`: from now on they
  /// are what `peer` tells.
  void speak_for(const loop::socket_address& client, const loop::socket_address& local);

 private:
  friend class loop::source_awaiter<stream>;
  void on_completion(loop::completion completion) override;
  void on_turn_end() override;
  bool prepare() override;
  result<loop::buffer> take() override;

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
  [[nodiscard]] static result<loop::buffer> take_first(std::vector<arrival>& arrivals);

  outbox out_;
  std::vector<arrival> arrived_;  // oldest first
  bool ended_ = false;            // the last arrival has been queued
  mutable std::unique_ptr<peer_info> peer_;
  std::unique_ptr<secured> secured_;  // null without TLS
};

}  // namespace strata::net
