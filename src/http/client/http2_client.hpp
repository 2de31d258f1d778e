// The client's side of HTTP/2 on one stream: concurrent requests, each an inquiry.
//
// For one loop's thread. Of the server's data, no more is kept than its windows allow: an answer
// that is not read holds up no other.
#pragma once

#include <list>
#include <memory>

#include "http/client/inquiry.hpp"
#include "http/http2/http2_transport.hpp"

namespace strata::http {

class http2_call;

class http2_client final : public std::enable_shared_from_this<http2_client>,
                           private http2_transport,
                           private loop::timer {
 public:
  /// Ends by itself after `timeout` without a request.
  http2_client(loop::loop& loop, std::unique_ptr<net::stream> stream, loop::duration timeout);
  ~http2_client() override;

  /// Whether another request may begin now.
  [[nodiscard]] bool takes_more() const;
  /// Whether no more requests are possible.
  [[nodiscard]] bool is_over() const { return is_over_; }
  /// Opens one request. The inquiry keeps the connection alive.
  [[nodiscard]] std::unique_ptr<inquiry> open();
  /// Ends the connection once all its requests are answered.
  void retire();

 private:
  friend class http2_call;

  proto::http2_stream* on_request(arrival&& /*come*/) override { return nullptr; }
  [[nodiscard]] bool is_idle() const override { return calls_.empty(); }
  void on_flush() override;
  void on_timer() override;

  loop::task<> receive();
  void forget(http2_call& gone);
  void end_calls();

  loop::duration timeout_;
  std::list<http2_call> calls_;
  bool is_over_ = false;
  bool is_retiring_ = false;
  bool has_ended_ = false;  // everything is sent
};

}  // namespace strata::http
