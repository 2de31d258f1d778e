// Looks for what was lost in silence at a place of datagrams, a little after something was sent or
// has come there: what the kernel refuses is known later, and what it drops comes with what it does
// not.
#pragma once

#include <functional>
#include <utility>

#include "loop/loop.hpp"
#include "net/datagram.hpp"

namespace strata::net {

class loss_watch final : private loop::timer {
 public:
  struct losses {
    std::uint64_t unsent = 0;   ///< the kernel refused to send them
    std::uint64_t unheard = 0;  ///< they came, and the kernel had no room for them
  };
  /// Called when there are any.
  using listener = std::function<void(const losses& lost)>;

  loss_watch(loop::loop& loop, listener hears) : loop_(loop), hears_(std::move(hears)) {}

  /// Something was sent there, or has come. `there` outlives this, or `forget` is called.
  void look_soon(datagram& there) {
    constexpr auto soon = std::chrono::milliseconds(100);
    there_ = &there;
    if (!armed()) loop_.arm_after(*this, soon);
  }
  void look() {
    if (there_ == nullptr) return;
    const losses lost{.unsent = there_->take_send_errors(), .unheard = there_->take_kernel_drops()};
    if (lost.unsent + lost.unheard != 0) hears_(lost);
  }
  void forget() {
    disarm();
    there_ = nullptr;
  }

 private:
  void on_timer() override { look(); }

  loop::loop& loop_;
  listener hears_;
  datagram* there_ = nullptr;
};

}  // namespace strata::net
