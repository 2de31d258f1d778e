// One coroutine at a time, first come first served. For one loop's thread.
#pragma once

#include <coroutine>
#include <deque>
#include <utility>

namespace strata::loop {

class async_lock {
 public:
  /// Held until destroyed.
  class guard {
   public:
    explicit guard(async_lock& held) : held_(&held) {}
    guard(guard&& other) noexcept : held_(std::exchange(other.held_, nullptr)) {}
    guard(const guard&) = delete;
    guard& operator=(const guard&) = delete;
    guard& operator=(guard&&) = delete;
    ~guard() {
      if (held_ != nullptr) held_->release();
    }

   private:
    async_lock* held_;
  };

  async_lock() = default;
  async_lock(const async_lock&) = delete;
  async_lock& operator=(const async_lock&) = delete;

  /// Awaits the lock. A coroutine that waits must not be destroyed.
  [[nodiscard]] auto acquire() {
    struct awaiter {
      async_lock& wanted;
      [[nodiscard]] bool await_ready() const { return !std::exchange(wanted.taken_, true); }
      void await_suspend(std::coroutine_handle<> self) const { wanted.waiting_.push_back(self); }
      [[nodiscard]] guard await_resume() const { return guard(wanted); }
    };
    return awaiter{*this};
  }
  /// For the one that holds it: awaits that those that wait for it now have had it, and holds it
  /// again.
  [[nodiscard]] auto let_others() {
    struct awaiter {
      async_lock& held;
      [[nodiscard]] bool await_ready() const { return held.waiting_.empty(); }
      void await_suspend(std::coroutine_handle<> self) const {
        held.waiting_.push_back(self);
        held.release();
      }
      void await_resume() const {}
    };
    return awaiter{*this};
  }

 private:
  void release() {
    if (waiting_.empty()) {
      taken_ = false;
      return;
    }
    const auto next = waiting_.front();
    waiting_.pop_front();
    next.resume();
  }

  bool taken_ = false;
  std::deque<std::coroutine_handle<>> waiting_;
};

}  // namespace strata::loop
