// Messages from other threads: many threads post, one loop takes. Lock-free.
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

  /// Posts a message. Reports whether the box was empty: then its loop may sleep and must be woken.
  bool post(message body) {
    node* below = head_.load(std::memory_order_relaxed);
    auto* const next = new node{std::move(body), below};
    while (!head_.compare_exchange_weak(below, next, std::memory_order_release,
                                        std::memory_order_relaxed)) {
      next->below = below;
    }
    // `next` may be destroyed by now: its loop may have run it.
    return below == nullptr;
  }

  /// Runs all messages posted so far, oldest first. Reports whether there were any.
  bool run() {
    node* newest = take();
    if (newest == nullptr) return false;
    node* oldest = nullptr;  // the stack, reversed
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
