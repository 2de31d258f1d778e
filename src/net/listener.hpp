// A listening socket: wait for the next connection. It owns the path of a Unix socket.
#pragma once

#include <coroutine>
#include <deque>

#include "loop/loop.hpp"
#include "loop/socket_file.hpp"
#include "loop/source_awaiter.hpp"

namespace strata::net {

class listener final : private loop::request {
 public:
  listener(loop::loop& loop, loop::descriptor listening);
  /// Removes a Unix socket's path if it still names the socket that was bound.
  ~listener() override;
  listener(const listener&) = delete;
  listener& operator=(const listener&) = delete;

  /// Waits for a connection. Errors: as of accept(2) (EMFILE …); accepting may go on.
  auto accept() { return loop::source_awaiter(*this); }

 private:
  friend class loop::source_awaiter<listener>;
  void on_completion(loop::completion completion) override;
  bool prepare() {
    if (!arrived_.empty()) return true;
    if (!under_way()) loop_.accept(socket_, *this);
    return false;
  }
  result<loop::descriptor> take();

  struct arrival {
    int sys_errno;
    loop::descriptor connection;
  };

  loop::loop& loop_;
  loop::descriptor socket_;
  loop::socket_file file_;  // removed before the socket closes
  std::coroutine_handle<> waiter_;
  std::deque<arrival> arrived_;
};

}  // namespace strata::net
