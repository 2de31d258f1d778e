// `task<T>`: a coroutine that starts when it is awaited and passes its value to its awaiter.
//
// A task owns its frame. Destroying a suspended task destroys its frame and, through the frame's
// locals, every task and request that it waits on: that is how work is cancelled. Nothing may be
// destroyed from inside itself; a `task_group` (task_group.hpp) owns tasks that are not awaited.
// Exceptions do not cross tasks: an exception that leaves a task ends the program.
#pragma once

#include <coroutine>
#include <exception>
#include <optional>
#include <utility>

namespace strata::loop {

template <class T = void>
class [[nodiscard]] task;

namespace detail {

struct promise_base {
  std::coroutine_handle<> continuation = std::noop_coroutine();

  struct final_awaiter {
    [[nodiscard]] bool await_ready() const noexcept { return false; }
    template <class Promise>
    std::coroutine_handle<> await_suspend(std::coroutine_handle<Promise> self) const noexcept {
      return self.promise().continuation;
    }
    void await_resume() const noexcept {}
  };

  [[nodiscard]] std::suspend_always initial_suspend() const noexcept { return {}; }
  [[nodiscard]] final_awaiter final_suspend() const noexcept { return {}; }
  [[noreturn]] void unhandled_exception() const noexcept { std::terminate(); }
};

template <class T>
struct promise : promise_base {
  std::optional<T> value;
  task<T> get_return_object();
  template <class U>
  void return_value(U&& result) {
    value.emplace(std::forward<U>(result));
  }
};

template <>
struct promise<void> : promise_base {
  task<void> get_return_object();
  void return_void() const noexcept {}
};

}  // namespace detail

template <class T>
class [[nodiscard]] task {
 public:
  using promise_type = detail::promise<T>;

  task() = default;
  explicit task(std::coroutine_handle<promise_type> frame) : frame_(frame) {}
  task(task&& other) noexcept : frame_(std::exchange(other.frame_, {})) {}
  task& operator=(task&& other) noexcept {
    if (this != &other) {
      if (frame_) frame_.destroy();
      frame_ = std::exchange(other.frame_, {});
    }
    return *this;
  }
  task(const task&) = delete;
  task& operator=(const task&) = delete;
  ~task() {
    if (frame_) frame_.destroy();
  }

  [[nodiscard]] bool await_ready() const noexcept { return false; }
  std::coroutine_handle<> await_suspend(std::coroutine_handle<> waiter) noexcept {
    frame_.promise().continuation = waiter;
    return frame_;
  }
  T await_resume() {
    if constexpr (!std::is_void_v<T>) return std::move(*frame_.promise().value);
  }

 private:
  std::coroutine_handle<promise_type> frame_;
};

namespace detail {

template <class T>
task<T> promise<T>::get_return_object() {
  return task<T>(std::coroutine_handle<promise>::from_promise(*this));
}

inline task<void> promise<void>::get_return_object() {
  return task<void>(std::coroutine_handle<promise>::from_promise(*this));
}

}  // namespace detail

}  // namespace strata::loop
