// The client's side of HTTP/2 on one stream: concurrent requests, each an inquiry.
//
// For one loop's thread. Everything sent in one turn of the loop goes out in one piece at its end.
// Of the server's data, no more is kept than its windows allow: an answer that is not read holds up
// no other.
#pragma once

#include <list>
#include <memory>

#include "http/client/inquiry.hpp"
#include "http/gathered_output.hpp"
#include "loop/task_group.hpp"
#include "proto/http/http2.hpp"

namespace strata::http {

class http2_call;

class http2_client final : public std::enable_shared_from_this<http2_client>,
                           private proto::http2_listener,
                           private loop::turn_end_hook,
                           private loop::timer {
 public:
  /// Ends by itself after `patience` without a request.
  http2_client(loop::loop& loop, std::unique_ptr<net::stream> stream, loop::duration patience);
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
  friend class http2_call_channel;

  proto::http2_stream* on_request(arrival&& /*come*/) override { return nullptr; }
  void write(byte_span bytes) override { output_.append(bytes); }
  void on_turn_end() override { flush(); }
  void on_timer() override;

  loop::task<> receive();
  void flush();
  void give_output();
  loop::task<> write_on();
  void forget(http2_call& gone);
  void end_calls();

  loop::loop& loop_;
  std::unique_ptr<net::stream> stream_;
  loop::duration patience_;
  gathered_output output_;
  proto::http2_session session_;
  std::list<http2_call> calls_;
  bool is_over_ = false;
  bool is_retiring_ = false;
  bool has_ended_ = false;   // everything is sent
  bool is_writing_ = false;  // a task resumes writing once the kernel has taken data
  loop::task_group running_;
};

}  // namespace strata::http
