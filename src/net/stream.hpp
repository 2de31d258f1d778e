// A connected byte stream (TCP or Unix) on a loop: await what comes, push what goes.
//
// One coroutine receives. What arrives while it is busy waits here, up to a few buffers; then
// receiving pauses and the peer feels it. Destroying the stream closes the connection.
#pragma once

#include <coroutine>
#include <vector>

#include "loop/loop.hpp"
#include "loop/source_awaiter.hpp"
#include "net/outbox.hpp"

namespace strata::net {

class stream final : private loop::request {
 public:
  stream(loop::loop& owner, loop::socket connected)
      : loop_(owner), socket_(std::move(connected)), out_(owner, socket_) {}
  ~stream() override { abandon(); }
  stream(const stream&) = delete;
  stream& operator=(const stream&) = delete;

  /// Awaits the next bytes. An empty buffer is the end of the stream. Errors: of the connection.
  auto receive() { return loop::source_awaiter(*this); }

  [[nodiscard]] outbox& out() { return out_; }
  [[nodiscard]] const loop::socket& handle() const { return socket_; }

  /// All that was pushed has reached the peer's side: closing loses nothing.
  [[nodiscard]] bool delivered() const {
    return out_.empty() && loop_.unacknowledged(socket_) == 0;
  }
  /// Ends both directions: the receive under way ends, what waits in `out()` is lost.
  void abort() { loop_.shut_down(socket_); }
  /// Ends the sending direction; to be called when `out()` is empty.
  void end_sending() { loop_.shut_down_send(socket_); }

 private:
  friend class loop::source_awaiter<stream>;
  void on_completion(loop::completion done) override;
  /// Sees to it that something is or will be there; says whether it is there now.
  bool prepare();
  result<loop::buffer> take();

  struct arrival {
    int result;
    loop::buffer data;
  };

  loop::loop& loop_;
  loop::socket socket_;
  outbox out_;
  std::coroutine_handle<> waiter_;
  std::vector<arrival> arrived_;  // oldest first
  bool ended_ = false;            // the last arrival has been queued
};

}  // namespace strata::net
