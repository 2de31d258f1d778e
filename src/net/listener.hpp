// A listening socket: await the next connection.
#pragma once

#include <coroutine>
#include <deque>

#include "loop/loop.hpp"
#include "loop/source_awaiter.hpp"

namespace strata::net {

class listener final : private loop::request {
 public:
  listener(loop::loop& owner, loop::socket listening)
      : loop_(owner), socket_(std::move(listening)) {}
  ~listener() override { abandon(); }
  listener(const listener&) = delete;
  listener& operator=(const listener&) = delete;

  /// Awaits a connection. Errors: as accept(2) gives them (EMFILE …); accepting may go on.
  auto accept() { return loop::source_awaiter(*this); }

  [[nodiscard]] const loop::socket& handle() const { return socket_; }

 private:
  friend class loop::source_awaiter<listener>;
  void on_completion(loop::completion done) override;
  bool prepare() {
    if (!arrived_.empty()) return true;
    if (!under_way()) loop_.accept(socket_, *this);
    return false;
  }
  result<loop::socket> take();

  struct arrival {
    int sys_errno;
    loop::socket connection;
  };

  loop::loop& loop_;
  loop::socket socket_;
  std::coroutine_handle<> waiter_;
  std::deque<arrival> arrived_;
};

}  // namespace strata::net
