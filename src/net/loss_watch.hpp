// Checks a datagram endpoint for silent losses shortly after something was sent or received there:
// the kernel reports a refused send later, and a drop only with the next datagram that it does not
// drop.
#pragma once

#include <functional>
#include <utility>

#include "loop/loop.hpp"
#include "net/datagram.hpp"

namespace strata::net {

class loss_watch final : private loop::timer {
 public:
  struct losses {
    std::uint64_t unsent = 0;      ///< datagrams that the kernel refused to send
    std::uint64_t unreceived = 0;  ///< datagrams that arrived and for which the kernel had no room
  };
  /// Called if there are any losses.
  using listener = std::function<void(const losses& lost)>;

  loss_watch(loop::loop& loop, listener listener) : loop_(loop), listener_(std::move(listener)) {}

  /// Checks soon after a datagram was sent or received. `there` outlives this object, or call
  /// `forget`.
  void look_soon(datagram& there) {
    constexpr auto soon = std::chrono::milliseconds(100);
    there_ = &there;
    if (!armed()) loop_.arm_after(*this, soon);
  }
  void look() {
    if (there_ == nullptr) return;
    const losses lost{.unsent = there_->take_send_errors(),
                      .unreceived = there_->take_kernel_drops()};
    if (lost.unsent + lost.unreceived != 0) listener_(lost);
  }
  void forget() {
    disarm();
    there_ = nullptr;
  }

 private:
  void on_timer() override { look(); }

  loop::loop& loop_;
  listener listener_;
  datagram* there_ = nullptr;
};

}  // namespace strata::net
