#include "net/byte_channel.hpp"

namespace strata::net {

class byte_channel::timed_receive final : public loop::timer {
 public:
  timed_receive(byte_channel& channel, loop::time_point limit) : from_(channel), limit_(limit) {}
  timed_receive(const timed_receive&) = delete;
  timed_receive& operator=(const timed_receive&) = delete;
  ~timed_receive() override {
    if (waits_) from_.waiter_ = {};
  }

  [[nodiscard]] bool await_ready() { return from_.prepare(); }
  void await_suspend(std::coroutine_handle<> self) {
    from_.waiter_ = self_ = self;
    waits_ = true;
    if (limit_ != loop::time_point::max()) from_.home_.arm(*this, limit_);
  }
  /// Reports whether something has arrived.
  [[nodiscard]] bool await_resume() {
    waits_ = false;
    disarm();
    return !is_over_;
  }

 private:
  void on_timer() override {
    is_over_ = true;
    from_.waiter_ = {};
    self_.resume();
  }

  byte_channel& from_;
  loop::time_point limit_;
  std::coroutine_handle<> self_;
  bool waits_ = false;
  bool is_over_ = false;
};

loop::task<std::optional<result<loop::buffer>>> byte_channel::receive(loop::time_point limit) {
  timed_receive until(*this, limit);
  const bool has_come = co_await until;
  if (!has_come) co_return std::nullopt;
  co_return take();
}

}  // namespace strata::net
