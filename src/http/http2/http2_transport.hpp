// One connection and its HTTP/2 session: the base of the server's connection and of the client's.
//
// Everything that the session sends in one turn of the loop goes out in one piece at its end, as
// far as the connection takes it; the rest follows when the kernel has taken some.
#pragma once

#include <memory>

#include "http/gathered_output.hpp"
#include "loop/task_group.hpp"
#include "net/stream.hpp"
#include "proto/http/http2.hpp"

namespace strata::http {

class http2_transport : protected proto::http2_listener, private loop::turn_end_hook {
 protected:
  http2_transport(loop::loop& loop, std::unique_ptr<net::stream> stream,
                  const proto::http2_limits& limits, proto::http2_role role);

  /// Whether no stream is open: then the memory for output is freed.
  [[nodiscard]] virtual bool is_idle() const = 0;
  /// Called when output has been handed over.
  virtual void on_flush() = 0;

  /// Sends what the session has to send, at the turn's end.
  void schedule_flush() { loop_.at_turn_end(*this); }
  void flush();
  /// Hands over what the connection takes now.
  void give_output();
  /// From now on, nothing is handed over.
  void close_output() { is_closed_ = true; }

  loop::loop& loop_;
  std::unique_ptr<net::stream> stream_;
  gathered_output output_;
  proto::http2_session session_;
  /// Derived classes cancel it before their members are destroyed.
  loop::task_group running_;

 private:
  void write(byte_span bytes) final { output_.append(bytes); }
  void on_turn_end() final { flush(); }
  loop::task<> write_on();

  bool is_closed_ = false;
  bool is_writing_ = false;  // a task resumes writing once the kernel has taken data
};

}  // namespace strata::http
