// A lock for one coroutine at a time, in first-come order. For one loop's thread.
//
// A waiting coroutine may be destroyed: it then leaves the queue. The next holder is resumed at the
// end of the turn, never inside the previous holder's release.
#pragma once

#include <boost/intrusive/list.hpp>
#include <coroutine>
#include <utility>

#include "loop/loop.hpp"

namespace strata::loop {

class async_lock final : private turn_end_hook {
 public:
  /// Holds the lock until destroyed.
  class guard {
   public:
    explicit guard(async_lock& lock) : lock_(&lock) {}
    guard(guard&& other) noexcept : lock_(std::exchange(other.lock_, nullptr)) {}
    guard(const guard&) = delete;
    guard& operator=(const guard&) = delete;
    guard& operator=(guard&&) = delete;
    ~guard() {
      if (lock_ != nullptr) lock_->release();
    }

   private:
    async_lock* lock_;
  };

  /// `loop` resumes the waiters and must outlive the lock.
  explicit async_lock(loop& loop) : loop_(loop) {}

  /// Waits for the lock.
  [[nodiscard]] auto acquire();
  /// Called by the holder: passes the lock to all present waiters first, then holds it again.
  [[nodiscard]] auto let_others();

 private:
  class waiter : public boost::intrusive::list_base_hook<
                     boost::intrusive::link_mode<boost::intrusive::auto_unlink>> {
   public:
    explicit waiter(async_lock& lock) : lock_(lock) {}

   protected:
    void queue(std::coroutine_handle<> self) {
      self_ = self;
      lock_.waiters_.push_back(*this);
    }

    async_lock& lock_;

   private:
    friend class async_lock;
    std::coroutine_handle<> self_;
  };

  void release() {
    if (waiters_.empty()) {
      is_held_ = false;
    } else {
      loop_.at_turn_end(*this);
    }
  }
  // All coroutines that waited at the release may have been destroyed since.
  void on_turn_end() override {
    if (waiters_.empty()) {
      is_held_ = false;
      return;
    }
    const auto next = waiters_.front().self_;
    waiters_.pop_front();
    next.resume();
  }

  loop& loop_;
  bool is_held_ = false;  // also true between a release and the resumption of the next holder
  boost::intrusive::list<waiter, boost::intrusive::constant_time_size<false>> waiters_;
};

inline auto async_lock::acquire() {
  struct acquisition : waiter {
    using waiter::waiter;
    [[nodiscard]] bool await_ready() const { return !std::exchange(lock_.is_held_, true); }
    void await_suspend(std::coroutine_handle<> self) { queue(self); }
    [[nodiscard]] guard await_resume() const { return guard(lock_); }
  };
  return acquisition(*this);
}

inline auto async_lock::let_others() {
  struct turn : waiter {
    using waiter::waiter;
    [[nodiscard]] bool await_ready() const { return lock_.waiters_.empty(); }
    void await_suspend(std::coroutine_handle<> self) {
      queue(self);
      lock_.release();
    }
    void await_resume() const {}
  };
  return turn(*this);
}

}  // namespace strata::loop
