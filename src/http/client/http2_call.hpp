// One request of an HTTP/2 client, and its answer. For http2_client alone.
#pragma once

#include <deque>
#include <optional>

#include "http/client/http2_client.hpp"
#include "http/http2/http2_flow.hpp"

namespace strata::http {

/// Owned by its connection; it outlives the inquiry if the stream does.
class http2_call final : public http2_flow {
 public:
  explicit http2_call(http2_client& client) : http2_flow(client.loop_), client_(client) {}

  void begin(const question& question);
  void send(const loop::slice& piece) override;
  void finish(proto::http_fields trailers);
  void end_sending() override { finish({}); }
  loop::task<bool> room(std::size_t low);
  loop::task<result<proto::http_response_head>> head(loop::time_point limit);
  loop::task<result<std::string>> read(loop::time_point limit);
  [[nodiscard]] proto::http_fields take_trailers() { return std::move(come_trailers_); }
  [[nodiscard]] bool has_received() const { return has_received_; }
  [[nodiscard]] bool is_empty() const {
    return is_whole() && unread_.empty() && come_trailers_.empty();
  }
  [[nodiscard]] bool is_refused() const { return is_refused_; }
  void cancel() override;
  [[nodiscard]] bool is_gone() const override { return is_gone_; }
  [[nodiscard]] net::stream& carrier() const override { return *client_.stream_; }
  /// True only for WebSockets, and only if the server's settings allow them (RFC 8441 section 3).
  loop::task<bool> may_switch_to(std::string protocol, loop::time_point limit);
  /// The inquiry is gone: abandons the call.
  void leave();

 private:
  friend class http2_client;

  void on_head(proto::http_response_head&& head) override;
  void on_body(byte_span bytes) override;
  void on_trailers(proto::http_fields&& fields) override { come_trailers_ = std::move(fields); }
  void on_refusal() override { is_refused_ = true; }
  void on_close() override;
  [[nodiscard]] supply supplied() const override;
  void move_body(std::size_t count) override;
  void drop_unread();
  void credit(std::size_t bytes) override;
  [[nodiscard]] error failed(const char* reason) const;

  http2_client& client_;
  std::uint32_t stream_ = 0;  // 0: not begun
  std::string key_;           // key of the WebSocket that it opens, as in HTTP/1.1; empty: none
  proto::http_fields trailers_;
  bool is_said_ = false;                           // the request is complete
  std::deque<proto::http_response_head> interim_;  // not taken yet
  std::optional<proto::http_response_head> head_;
  proto::http_fields come_trailers_;
  bool has_received_ = false;
  bool is_gone_ = false;     // nothing more is received or sent
  bool is_refused_ = false;  // the server reports that it has not processed it
  bool is_closed_ = false;
  bool is_left_ = false;
};

/// The caller's handle on a call.
class http2_inquiry final : public inquiry {
 public:
  http2_inquiry(std::shared_ptr<http2_client> client, http2_call& call)
      : on_(std::move(client)), call_(call) {}
  ~http2_inquiry() override { call_.leave(); }

  using inquiry::finish;
  void begin(const question& question) override { call_.begin(question); }
  using inquiry::push;
  void push(const loop::slice& piece) override {
    if (!piece.empty()) call_.send(piece);
  }
  void finish(proto::http_fields trailers) override { call_.finish(std::move(trailers)); }
  loop::task<bool> room(std::size_t low) override { return call_.room(low); }
  loop::task<result<proto::http_response_head>> head(loop::time_point limit) override {
    return call_.head(limit);
  }
  loop::task<result<std::string>> read(loop::time_point limit) override {
    return call_.read(limit);
  }
  [[nodiscard]] proto::http_fields take_trailers() override { return call_.take_trailers(); }
  /// Never free: the next request gets a stream of its own.
  [[nodiscard]] bool is_free() const override { return false; }
  [[nodiscard]] bool has_received() const override { return call_.has_received(); }
  [[nodiscard]] bool is_empty() const override { return call_.is_empty(); }
  [[nodiscard]] bool can_be_refused() const override { return true; }
  [[nodiscard]] bool is_refused() const override { return call_.is_refused(); }
  loop::task<> ended(loop::time_point /*limit*/) override { co_return; }
  void abort() override { call_.cancel(); }
  [[nodiscard]] loop::task<bool> may_switch_to(std::string_view protocol,
                                               loop::time_point limit) override {
    return call_.may_switch_to(std::string(protocol), limit);
  }
  [[nodiscard]] std::unique_ptr<net::byte_channel> upgrade() override;

 private:
  std::shared_ptr<http2_client> on_;
  http2_call& call_;
};

}  // namespace strata::http
