// The server's side of HTTP/2 on one stream: concurrent requests, each with its handler in a task
// of its own.
//
// Of the client's data, no more is kept than its windows allow; of answers, what handlers push
// without waiting for room, and what the kernel does not take.
#pragma once

#include <list>
#include <memory>
#include <optional>
#include <vector>

#include "http/http2/http2_transport.hpp"
#include "http/served_connection.hpp"
#include "http/server_connection.hpp"

namespace strata::http {

class http2_exchange;

class http2_connection final : public served_connection,
                               private http2_transport,
                               private loop::timer {
 public:
  http2_connection(loop::loop& loop, std::unique_ptr<net::stream> stream,
                   server_limits limits = {});
  ~http2_connection() override;

  /// Serves until the client or silence ends the connection. Handlers that are still waiting then
  /// are ended.
  loop::task<> serve(const handlers& handlers);
  void retire() override;
  [[nodiscard]] std::size_t held() const override;
  void dismiss() override { stream_->leave(); }
  [[nodiscard]] const net::stream* stream() const override { return stream_.get(); }
  /// Whether the connection was ended because the client did something too often.
  [[nodiscard]] bool was_flooded() const { return session_.was_flooded(); }

 private:
  friend class http2_exchange;

  proto::http2_stream* on_request(arrival&& come) override;
  [[nodiscard]] bool is_idle() const override { return exchanges_.empty(); }
  void on_flush() override;
  void on_timer() override;

  void take(byte_span bytes);
  void start_arrived();
  loop::task<> run(http2_exchange& exchange);
  /// Removes an exchange that is over on both sides.
  void forget(http2_exchange& gone);
  /// Sends the rest, and waits a moment until the client closes.
  void part();
  void watch_head();
  void end_lingering();
  void arm_next();

  server_limits limits_;
  const handlers* handlers_ = nullptr;
  std::list<http2_exchange> exchanges_;
  std::vector<http2_exchange*> arrived_;  // their handlers have not begun
  std::optional<loop::time_point> head_since_;
  loop::time_point idle_since_;
  std::size_t left_at_parting_ = 0;  // unsent bytes at the last check
  bool is_parting_ = false;
};

}  // namespace strata::http
