// A listening socket: wait for the next connection. It owns the path of a Unix socket.
#pragma once

#include <cerrno>
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

  /// Waits for a connection. Errors: as of accept(2) (EMFILE …); accepting may go on. After
  /// `finish`, errc::canceled.
  auto accept() { return loop::source_awaiter(*this); }
  /// Takes no more connections from the kernel. Those that it has given already are returned by
  /// `accept` first.
  void finish();
  [[nodiscard]] bool is_finished() const { return is_finished_; }

 private:
  friend class loop::source_awaiter<listener>;
  void on_completion(loop::completion completion) override;
  bool prepare() {
    if (!arrived_.empty()) return true;
    if (under_way()) return false;
    if (is_finished_) {
      arrived_.push_back({ECANCELED, {}});
      return true;
    }
    loop_.accept(socket_, *this);
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
  bool is_finished_ = false;
};

}  // namespace strata::net
