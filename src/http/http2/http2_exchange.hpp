// An exchange over an HTTP/2 stream (RFC 9113 section 8). For http2_connection alone.
#pragma once

#include <list>
#include <memory>
#include <optional>
#include <vector>

#include "http/http2/http2_connection.hpp"
#include "http/http2/http2_flow.hpp"

namespace strata::http {

class http2_exchange final : public exchange, public http2_flow {
 public:
  http2_exchange(http2_connection& connection, proto::http2_listener::arrival&& come);

  [[nodiscard]] const net::peer_info& peer() const override { return connection_.stream_->peer(); }
  [[nodiscard]] served_connection& connection() override { return connection_; }
  [[nodiscard]] bool is_secure() const override { return connection_.stream_->tls() != nullptr; }
  [[nodiscard]] bool has_body() const override {
    return !is_whole() || !unread_.empty() || !come_trailers_.empty();
  }
  loop::task<result<std::string>> read(std::uint64_t most) override;
  void leave_continue() override { is_waiting_for_continue_ = false; }
  [[nodiscard]] proto::http_fields take_trailers() override { return std::move(come_trailers_); }
  using exchange::push;
  using exchange::respond;
  void inform(int status, const proto::http_fields& fields) override;
  void begin(answer_head head) override;
  void push(const loop::slice& piece) override;
  using exchange::finish;
  void finish(proto::http_fields trailers) override;
  /// Bytes of this answer alone.
  [[nodiscard]] std::size_t unsent() const override { return queued(); }
  loop::task<bool> room() override;
  loop::task<> delivered(loop::time_point limit) override;
  loop::task<> client_end() override;
  loop::task<> client_left() override;
  void abort() override;
  [[nodiscard]] bool owns_connection() const override { return false; }
  [[nodiscard]] std::unique_ptr<net::byte_channel> upgrade(
      const proto::http_fields& fields) override;

  // --- for its channel
  void send(const loop::slice& data) override { push(data); }
  void end_sending() override {
    if (!is_answered()) finish();
  }
  void cancel() override { reset(proto::http2_code::cancel); }
  [[nodiscard]] bool is_gone() const override { return is_closed_ || is_aborted_; }
  [[nodiscard]] net::stream& carrier() const override { return *connection_.stream_; }

  // --- for the connection
  /// The status of an answer that needs no handler; 0: none.
  [[nodiscard]] int refusal_status() const { return come_.refusal_status; }
  [[nodiscard]] const error& why_refused() const { return *come_.refusal; }
  /// The handler has ended: closes what it left open.
  void end_handler();
  [[nodiscard]] bool is_closed() const { return is_closed_; }
  /// Bytes of a body that its handler may be gathering, and of the answer.
  [[nodiscard]] std::size_t held() const {
    const bool is_gathered = channel_ == nullptr && !is_done_;
    return (is_gathered ? received_ : unread_.size()) + body_.bytes();
  }
  /// Whether only the client can end it, and the client has done nothing since then.
  [[nodiscard]] bool lingers_since(loop::time_point then) const {
    return is_done_ && touched_ <= then;
  }

 private:
  friend class http2_connection;

  void on_body(byte_span bytes) override;
  void on_trailers(proto::http_fields&& fields) override { come_trailers_ = std::move(fields); }
  void on_close() override;
  [[nodiscard]] supply supplied() const override;
  void move_body(std::size_t count) override;

  void credit(std::size_t bytes) override;
  void drop_unread();
  void reset(proto::http2_code why);
  void demand_body();

  http2_connection& connection_;
  proto::http2_listener::arrival come_;
  std::list<http2_exchange>::iterator place_;
  std::uint64_t received_ = 0;
  std::uint64_t dropped_ = 0;  // received bytes that were dropped
  proto::http_fields come_trailers_;
  proto::http_fields trailers_;  // the answer's trailers
  loop::time_point touched_;
  bool is_waiting_for_continue_ = false;
  bool has_body_ = false;    // the answer has a body
  bool drops_body_ = false;  // the request's body is not read any more
  bool is_aborted_ = false;
  bool is_closed_ = false;
  bool is_done_ = false;  // the handler has ended
};

}  // namespace strata::http
