// The byte channel that is a connection: a stream (TCP or Unix) on a loop.
//
// It is made before its protocol is known, and passed on as a `unique_ptr`. One coroutine receives.
// Bytes are received on credit: the peer is held up while no coroutine waits for them, and what had
// already arrived is moved out of the loop's few buffers into the stream's own memory, so a reader
// that waits for something else does not block other connections. Destroying the stream closes the
// connection; coroutines that wait for room are resumed.
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

  /// As `byte_channel::receive`, but without virtual calls, as the type is known.
  // NOLINTNEXTLINE(bugprone-derived-method-shadowing-base-method): they do the same.
  auto receive() { return loop::source_awaiter(*this); }
  using byte_channel::receive;
  // NOLINTNEXTLINE(bugprone-derived-method-shadowing-base-method): they do the same.
  auto ready() { return loop::source_readiness(*this); }
  using byte_channel::ready;
  // NOLINTNEXTLINE(bugprone-derived-method-shadowing-base-method): they do the same.
  [[nodiscard]] result<loop::buffer> take_ready() { return take(); }
  /// Returns the last received buffer, or its last part, to the stream: it is received next. For
  /// code that inspects the first bytes to choose their reader.
  void unread(loop::buffer&& seen);

  /// Performs the TLS handshake, until `limit` at most; afterwards all data here is plain text.
  /// Call it while nothing is unsent; bytes given back by `unread` are read as TLS. The context
  /// decides which side this is. `host` is the name or address that the server's certificate must
  /// be valid for; a server passes none. After an error, which the peer was notified of, the stream
  /// is unusable.
  [[nodiscard]] loop::task<result<void>> start_tls(std::shared_ptr<const tls_context> context,
                                                   std::string host, loop::time_point limit);
  /// The negotiated parameters; null without TLS.
  [[nodiscard]] const tls_info* tls() const;

  void push(const loop::slice& data) override { out_.push(data); }
  /// Queues bytes of a file: see `outbox::push_file`. Not with TLS.
  void push_file(const loop::file_part& part) { out_.push_file(part); }
  /// Bytes that are pushed and that the kernel has not taken yet.
  [[nodiscard]] std::size_t unsent() const override { return out_.bytes(); }
  /// Bytes of memory that unsent data takes: bytes of a file take none.
  [[nodiscard]] std::size_t unsent_in_memory() const { return out_.bytes_in_memory(); }
  /// Bytes that the kernel has taken.
  [[nodiscard]] std::uint64_t sent() const { return out_.pushed() - out_.bytes(); }
  [[nodiscard]] int broken() const override { return out_.broken(); }
  [[nodiscard]] outbox& out() { return out_; }

  /// Waits, until `limit` at most, until no more than `low` bytes are unsent; reports whether that
  /// came true.
  auto writable(std::size_t low, loop::time_point limit = loop::time_point::max()) {
    return out_.room(low, limit);
  }
  [[nodiscard]] loop::task<bool> room(std::size_t low, loop::time_point limit) override;
  [[nodiscard]] loop::task<bool> delivered(loop::time_point limit) override;

  void end() override { out_.end(); }
  void abort() override { home_.shut_down(out_.socket()); }
  /// As `abort`, for a stream whose data is complete: TLS ends in good order, unless something is
  /// unsent.
  void leave();
  void break_off() override;

  /// Makes the kernel end the connection if the peer has vanished silently; see `loop::keep_alive`.
  void keep_alive(std::chrono::seconds interval) { home_.keep_alive(out_.socket(), interval); }
  /// Queries the kernel on the first call.
  [[nodiscard]] const peer_info& peer() const override;
  /// Queries the kernel on the first call, as `peer`.
  [[nodiscard]] std::string_view transport() const override;
  /// Queries the kernel. Nullopt if it is not a Unix socket.
  [[nodiscard]] std::optional<peer_process> process() const;
  /// Declares that the peer speaks for `client`, which has connected to `local`: from now on `peer`
  /// returns these addresses.
  void speak_for(const loop::socket_address& client, const loop::socket_address& local);

 private:
  friend class loop::source_awaiter<stream>;
  friend class loop::source_readiness<stream>;
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
  /// Whether `take()` has something to return: arrived data, decrypted if it is sealed.
  bool has_something();
  loop::task<> receive_rest(loop::time_point limit);
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

static_assert(sizeof(stream) <= 256, "each connection has one");

}  // namespace strata::net
