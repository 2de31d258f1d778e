// An exchange over HTTP/1.1 (RFC 9112). For server_connection alone.
#pragma once

#include "http/server_connection.hpp"

namespace strata::http {

class http1_exchange final : public exchange {
 public:
  http1_exchange(server_connection& connection, const proto::http_request& request)
      : exchange(request), connection_(connection), keeps_alive_(request.keep_alive) {}

  [[nodiscard]] const net::peer_info& peer() const override { return connection_.stream_->peer(); }
  [[nodiscard]] served_connection& connection() override { return connection_; }
  [[nodiscard]] bool is_secure() const override { return connection_.stream_->tls() != nullptr; }
  [[nodiscard]] bool has_body() const override;
  loop::task<result<std::string>> read(std::uint64_t most) override;
  void leave_continue() override { says_continue_ = false; }
  [[nodiscard]] proto::http_fields take_trailers() override {
    return connection_.parser_.take_trailers();
  }
  using exchange::push;
  using exchange::respond;
  void respond(answer_head head, std::string_view body) override;
  void inform(int status, const proto::http_fields& fields) override;
  void begin(answer_head head) override;
  void push(const loop::slice& piece) override;
  loop::task<bool> write_file(loop::file_part part) override;
  using exchange::finish;
  void finish(proto::http_fields trailers) override;
  [[nodiscard]] std::size_t unsent() const override { return connection_.stream_->unsent(); }
  loop::task<bool> room() override;
  loop::task<> delivered(loop::time_point limit) override {
    co_await connection_.stream_->delivered(limit);
  }
  loop::task<> client_end() override;
  loop::task<> client_left() override;
  void abort() override { connection_.stream_->abort(); }
  [[nodiscard]] bool owns_connection() const override { return true; }
  [[nodiscard]] std::unique_ptr<net::byte_channel> upgrade(
      const proto::http_fields& fields) override;

  [[nodiscard]] bool keeps_alive() const { return keeps_alive_; }
  /// Ends the connection with this exchange.
  void let_end() { keeps_alive_ = false; }

 private:
  enum class ending : std::uint8_t { no_body, length, chunks, close };

  /// Decides how the answer is framed, and whether the connection stays open behind it.
  [[nodiscard]] std::string head_text(const answer_head& head);
  void look_at_rest_of_request();

  server_connection& connection_;
  ending ends_by_ = ending::no_body;
  bool keeps_alive_;
  bool says_continue_ = true;      // `read` sends 100
  bool receives_nothing_ = false;  // data from the client is dropped
};

}  // namespace strata::http
