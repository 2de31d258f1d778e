// Runs blocking work, such as disk access, on threads beside the loops, so that no loop blocks.
//
// The process has a few such threads; further work is queued. They end when there is nothing to do.
#pragma once

#include <functional>
#include <memory>
#include <mutex>
#include <type_traits>
#include <utility>

#include "loop/call_on.hpp"

namespace strata::loop {

/// Runs `job` on one of these threads, or at once on this thread if none can be created. From any
/// thread.
void post_beside(std::move_only_function<void()> job);

namespace detail {

template <class Work>
struct beside_awaiter {
  using value_type = std::invoke_result_t<Work&>;

  std::shared_ptr<far_call<value_type>> call;
  Work work;

  beside_awaiter(loop& loop, Work what)
      : call(std::make_shared<far_call<value_type>>(loop)), work(std::move(what)) {}
  beside_awaiter(const beside_awaiter&) = delete;
  beside_awaiter& operator=(const beside_awaiter&) = delete;
  ~beside_awaiter() {
    call->waiter = {};
    const std::lock_guard held(call->lock);
    call->is_given_up = true;
  }

  [[nodiscard]] bool await_ready() const { return false; }
  void await_suspend(std::coroutine_handle<> self) {
    call->waiter = self;
    post_beside([call = call, work = std::move(work)]() mutable {
      call->value.emplace(work());
      const std::lock_guard held(call->lock);
      if (call->is_given_up) return;
      call->home.post([call] {
        if (call->waiter) call->waiter.resume();
      });
    });
  }
  value_type await_resume() { return std::move(*call->value); }
};

}  // namespace detail

/// Runs `work`, a function that returns a value, beside the loops, and waits for the value on
/// `loop`, the caller's loop. If the caller is destroyed first, `work` still runs to its end, so it
/// must own everything that it uses.
template <class Work>
auto beside(loop& loop, Work work) -> task<std::invoke_result_t<Work&>> {
  detail::beside_awaiter<Work> answer(loop, std::move(work));
  co_return co_await answer;
}

}  // namespace strata::loop
