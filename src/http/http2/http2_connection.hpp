// The server's side of HTTP/2 on one stream: concurrent requests, each with its handler in a task
// of its own.
//
// Everything sent in one turn of the loop goes out in one piece at its end. Of the client's data,
// no more is kept than its windows allow; of answers, what handlers push without waiting for room,
// and what the kernel does not take.
#pragma once

#include <list>
#include <memory>
#include <optional>
#include <vector>

#include "http/gathered_output.hpp"
#include "http/served_connection.hpp"
#include "http/server_connection.hpp"
#include "loop/task_group.hpp"
#include "proto/http/http2.hpp"

namespace strata::http {

class http2_channel;
class http2_exchange;

class http2_connection final : public served_connection,
                               private proto::http2_listener,
                               private loop::turn_end_hook,
                               private loop::timer {
 public:
  http2_connection(loop::loop& loop, std::unique_ptr<net::stream> stream,
                   server_limits limits = {});
  ~http2_connection() override;

  /// Serves until the client or silence ends the connection. Handlers that are still waiting then
  /// are ended.
  loop::task<> serve(const handler& answer, const refusal& refuse);
  void retire() override;
  [[nodiscard]] std::size_t held() const override;
  void dismiss() override { stream_->leave(); }
  [[nodiscard]] const net::stream* stream() const override { return stream_.get(); }
  /// Whether the connection was ended because the client did something too often.
  [[nodiscard]] bool was_flooded() const { return session_.was_flooded(); }

 private:
  friend class http2_exchange;
  friend class http2_channel;

  proto::http2_stream* on_request(arrival&& come) override;
  void write(byte_span bytes) override { output_.append(bytes); }
  void on_turn_end() override { flush(); }
  void on_timer() override;

  void take(byte_span bytes);
  void start_arrived();
  loop::task<> run(http2_exchange& exchange);
  /// Removes an exchange that is over on both sides.
  void forget(http2_exchange& gone);
  /// Sends what the session has to send, at the turn's end.
  void schedule_flush() { loop_.at_turn_end(*this); }
  void flush();
  void give_output();
  loop::task<> write_on();
  /// Sends the rest, and waits a moment until the client closes.
  void part();
  void watch_head();
  void end_lingering();
  void arm_next();

  loop::loop& loop_;
  std::unique_ptr<net::stream> stream_;
  server_limits limits_;
  gathered_output output_;
  proto::http2_session session_;
  const handler* answer_ = nullptr;
  const refusal* refuse_ = nullptr;
  std::list<http2_exchange> exchanges_;
  std::vector<http2_exchange*> arrived_;  // their handlers have not begun
  std::optional<loop::time_point> head_since_;
  loop::time_point idle_since_;
  std::size_t left_at_parting_ = 0;  // unsent bytes at the last check
  bool is_parting_ = false;
  bool is_writing_ = false;  // a task resumes writing once the kernel has taken data
  loop::task_group running_;
};

}  // namespace strata::http
