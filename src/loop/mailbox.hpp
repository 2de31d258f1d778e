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

  /// Posts a message. Reports whether its loop sleeps and must be woken for it.
  bool post(message body) {
    node* below = head_.load(std::memory_order_relaxed);
    auto* const next = new node{std::move(body), below};
    while (!head_.compare_exchange_weak(below, next)) next->below = below;
    // `next` may be destroyed by now: its loop may have run it.
    return below == nullptr && is_asleep_.load();
  }

  /// For the loop, before it waits: from now on it must be woken. Reports whether it may wait: no
  /// message is in the box. One order of all changes of both variables, so that either the loop
  /// sees the message or who posts it sees that the loop sleeps.
  bool fall_asleep() {
    is_asleep_.store(true);
    return head_.load() == nullptr;
  }
  void wake_up() { is_asleep_.store(false, std::memory_order_relaxed); }

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
  std::atomic<bool> is_asleep_ = false;
};

}  // namespace strata::loop
