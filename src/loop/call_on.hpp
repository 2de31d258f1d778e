// Runs work on another loop and waits for it on this one.
#pragma once

#include <memory>
#include <mutex>
#include <optional>
#include <type_traits>
#include <utility>
#include <variant>

#include "loop/loop.hpp"

namespace strata::loop {

namespace detail {

template <class T>
struct far_call {
  explicit far_call(loop& asker) : home(asker) {}
  loop& home;                      // may be destroyed once the asker has given up
  std::mutex lock;                 // for the members below
  bool is_given_up = false;        // by the asker, on home's thread
  std::coroutine_handle<> waiter;  // used only on home's thread; null once given up
  std::optional<T> value;
};

template <class T, class Work>
task<> run_far(std::shared_ptr<far_call<T>> call, Work work) {
  call->value.emplace(co_await work());
  // While the lock is held, the asker does not give up, so its loop exists.
  auto& reported = *call;
  const std::lock_guard held(reported.lock);
  if (reported.is_given_up) co_return;
  reported.home.post([call] {
    if (call->waiter) call->waiter.resume();
  });
}

template <class T, class Work>
struct far_awaiter {
  std::shared_ptr<far_call<T>> call;
  loop& target;
  Work work;

  far_awaiter(loop& home, loop& loop, Work what)
      : call(std::make_shared<far_call<T>>(home)), target(loop), work(std::move(what)) {}
  far_awaiter(const far_awaiter&) = delete;
  far_awaiter& operator=(const far_awaiter&) = delete;
  ~far_awaiter() {
    call->waiter = {};
    const std::lock_guard held(call->lock);
    call->is_given_up = true;
  }

  [[nodiscard]] bool await_ready() const { return false; }
  void await_suspend(std::coroutine_handle<> self) {
    call->waiter = self;
    target.post([&where = target, call = call, work = std::move(work)]() mutable {
      where.spawn(run_far<T, Work>(std::move(call), std::move(work)));
    });
  }
  T await_resume() { return std::move(*call->value); }
};

}  // namespace detail

/// Runs `work` (a callable that returns a task) on `target` and waits for its value on `home`, the
/// caller's loop. Objects that `work` refers to must outlive it; if the caller is destroyed first,
/// `work` still runs to its end.
template <class Work>
auto call_on(loop& home, loop& target, Work work)
    -> task<std::remove_cvref_t<decltype(work().await_resume())>> {
  using value_type = std::remove_cvref_t<decltype(work().await_resume())>;
  if constexpr (std::is_void_v<value_type>) {
    // The `answer` below keeps the closure, and so `work`, until the coroutine has ended.
    // NOLINTNEXTLINE(cppcoreguidelines-avoid-capturing-lambda-coroutines)
    auto reported = [work = std::move(work)]() mutable -> task<std::monostate> {
      co_await work();
      co_return std::monostate{};
    };
    detail::far_awaiter<std::monostate, decltype(reported)> answer(home, target,
                                                                   std::move(reported));
    co_await answer;
  } else {
    detail::far_awaiter<value_type, Work> answer(home, target, std::move(work));
    co_return co_await answer;
  }
}

/// As `call_on`, for `work` that does not wait: a function that returns a value, or nothing.
template <class Work>
auto run_on(loop& home, loop& target, Work work) -> task<std::invoke_result_t<Work&>> {
  // NOLINTNEXTLINE(cppcoreguidelines-avoid-capturing-lambda-coroutines)
  auto awaited = [work = std::move(work)]() mutable -> task<std::invoke_result_t<Work&>> {
    co_return work();
  };
  co_return co_await call_on(home, target, std::move(awaited));
}

}  // namespace strata::loop
