// The data of one HTTP/2 stream: what the peer has sent and nobody has taken yet, and what is to be
// sent. The base of the server's exchange and of the client's call.
#pragma once

#include <memory>
#include <string>

#include "http/http2/http2_body.hpp"
#include "loop/condition.hpp"
#include "net/stream.hpp"
#include "proto/http/http2.hpp"

namespace strata::http {

class http2_channel;

class http2_flow : public proto::http2_stream {
 public:
  explicit http2_flow(loop::loop& loop) : loop_(loop) {}

  /// Queues data behind all that was queued before.
  virtual void send(const loop::slice& data) = 0;
  /// Ends the sending direction behind what is queued.
  virtual void end_sending() = 0;
  /// Ends both directions at once.
  virtual void cancel() = 0;
  /// Whether nothing more is received or sent.
  [[nodiscard]] virtual bool is_gone() const = 0;
  /// The connection that carries the stream.
  [[nodiscard]] virtual net::stream& carrier() const = 0;

  [[nodiscard]] loop::loop& home() const { return loop_; }
  /// Bytes that are queued.
  [[nodiscard]] std::size_t queued() const { return body_.bytes(); }
  /// Whether the peer has ended its direction.
  [[nodiscard]] bool is_whole() const { return is_whole_; }
  /// Whether a reader need not wait.
  [[nodiscard]] bool has_news() const { return !unread_.empty() || is_whole_ || is_gone(); }
  /// Returns what has arrived, and lets the peer send as much again.
  [[nodiscard]] std::string take_unread();
  [[nodiscard]] loop::condition& changed();
  void set_channel(http2_channel* channel) { channel_ = channel; }

 protected:
  /// Lets the peer send as many bytes again.
  virtual void credit(std::size_t bytes) = 0;
  void notify();
  void on_end() override;

  std::string unread_;
  http2_body body_;
  http2_channel* channel_ = nullptr;  // null until there is one
  bool is_whole_ = false;

 private:
  loop::loop& loop_;
  std::unique_ptr<loop::condition> changed_;  // null until a coroutine waits
};

}  // namespace strata::http
