// The client's side of HTTP/1.1 on one stream: one request at a time, with its body and its answer
// in pieces.
#pragma once

#include <memory>
#include <string>
#include <string_view>

#include "http/client/inquiry.hpp"

namespace strata::http {

class http1_client final : public inquiry {
 public:
  explicit http1_client(std::unique_ptr<net::stream> stream) : stream_(std::move(stream)) {}

  using inquiry::finish;
  void begin(const question& question) override;
  using inquiry::push;
  void push(const loop::slice& piece) override;
  void finish(proto::http_fields trailers) override;
  loop::task<bool> room(std::size_t low) override;
  loop::task<result<proto::http_response_head>> head(
      loop::time_point limit = loop::time_point::max()) override;
  loop::task<result<std::string>> read(loop::time_point limit = loop::time_point::max()) override;
  [[nodiscard]] proto::http_fields take_trailers() override { return parser_.take_trailers(); }

  /// Sends a request and waits for the answer's final head. The previous answer must have been read
  /// to its end. `fields` need a Host. Errors: those of the connection, malformed, limit_exceeded.
  loop::task<result<proto::http_response_head>> ask(std::string_view method,
                                                    std::string_view target,
                                                    const proto::http_fields& fields,
                                                    std::string_view body);
  /// Waits for the whole body, until `limit` at most. Errors: as of `read`; limit_exceeded if it is
  /// longer than `most`.
  loop::task<result<std::string>> read_all(std::size_t most, loop::time_point limit);

  [[nodiscard]] bool is_free() const override { return is_free_; }
  [[nodiscard]] bool has_received() const override { return has_received_; }
  [[nodiscard]] bool is_empty() const override { return parser_.is_empty(); }
  [[nodiscard]] bool can_be_refused() const override { return false; }
  [[nodiscard]] bool is_refused() const override { return false; }
  loop::task<> ended(loop::time_point limit) override;
  void abort() override { stream_->abort(); }
  [[nodiscard]] loop::task<bool> may_switch_to(std::string_view /*protocol*/,
                                               loop::time_point /*limit*/) override {
    co_return true;
  }
  [[nodiscard]] std::unique_ptr<net::byte_channel> upgrade() override;

 private:
  /// Returns false at the end of the connection.
  loop::task<result<bool>> receive(loop::time_point limit);
  void restart(std::string_view method);

  std::unique_ptr<net::stream> stream_;
  proto::http_response_parser parser_;
  bool is_free_ = true;
  bool has_asked_ = false;
  bool has_received_ = false;
  bool is_asking_ = false;  // the request is not sent completely
  bool is_chunked_ = false;
};

}  // namespace strata::http
