// A listening socket: await the next connection. A Unix socket's path goes with it.
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
  /// Removes a Unix socket's path, if what is there is still the socket that was bound.
  ~listener() override;
  listener(const listener&) = delete;
  listener& operator=(const listener&) = delete;

  /// Awaits a connection. Errors: as accept(2) gives them (EMFILE …); accepting may go on.
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
  loop::socket_file file_;  // goes before the socket does
  std::coroutine_handle<> waiter_;
  std::deque<arrival> arrived_;
};

}  // namespace strata::net
