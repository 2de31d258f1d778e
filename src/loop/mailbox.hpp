// Messages from other threads: many post, one loop takes. No lock.
#pragma once

#include <atomic>
#include <functional>
#include <memory>
#include <utility>

namespace strata::loop {

class mailbox {
 public:
  using message = std::move_only_function<void()>;

  mailbox() = default;
  mailbox(const mailbox&) = delete;
  mailbox& operator=(const mailbox&) = delete;
  ~mailbox() { take_all(take()); }

  /// Says whether the box was empty: then its loop may sleep and has to be woken.
  bool post(message body) {
    node* below = head_.load(std::memory_order_relaxed);
    auto* const next = new node{std::move(body), below};
    while (!head_.compare_exchange_weak(below, next, std::memory_order_release,
                                        std::memory_order_relaxed)) {
      next->below = below;
    }
    // `next` may be gone by now: its loop may have run it.
    return below == nullptr;
  }

  /// Runs all that was posted so far, oldest first. Says whether there was any.
  bool run() {
    node* newest = take();
    if (newest == nullptr) return false;
    node* oldest = nullptr;  // the stack, turned round
    while (newest != nullptr) {
      node* below = std::exchange(newest->below, oldest);
      oldest = std::exchange(newest, below);
    }
    while (oldest != nullptr) {
      const std::unique_ptr<node> first(std::exchange(oldest, oldest->below));
      first->body();
    }
    return true;
  }

  [[nodiscard]] bool empty() const { return head_.load(std::memory_order_acquire) == nullptr; }

 private:
  struct node {
    message body;
    node* below;
  };

  node* take() { return head_.exchange(nullptr, std::memory_order_acquire); }
  static void take_all(node* newest) {
    while (newest != nullptr) {
      const std::unique_ptr<node> first(std::exchange(newest, newest->below));
    }
  }

  std::atomic<node*> head_ = nullptr;
};

}  // namespace strata::loop
