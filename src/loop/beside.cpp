#include "loop/beside.hpp"

#include <deque>

#include "loop/thread.hpp"

namespace strata::loop {

namespace {

constexpr std::size_t most_threads = 4;

class side_threads {
 public:
  void post(std::move_only_function<void()> job) {
    std::unique_lock guard(lock_);
    waiting_.push_back(std::move(job));
    if (threads_ == most_threads) return;
    auto started = start_thread("work beside a loop", [this] { serve(); });
    if (started) {
      started->detach();
      ++threads_;
    } else if (threads_ == 0) {
      auto here = std::move(waiting_.back());
      waiting_.pop_back();
      guard.unlock();
      here();
    }
  }

 private:
  void serve() {
    std::unique_lock guard(lock_);
    while (!waiting_.empty()) {
      auto next = std::move(waiting_.front());
      waiting_.pop_front();
      guard.unlock();
      next();
      next = nullptr;
      guard.lock();
    }
    --threads_;
  }

  std::mutex lock_;
  std::deque<std::move_only_function<void()>> waiting_;
  std::size_t threads_ = 0;
};

// Never destroyed: at the end of the process its threads may still wait for a disk.
side_threads& all_side_threads() {
  static auto* const all = new side_threads;
  return *all;
}

}  // namespace

void post_beside(std::move_only_function<void()> job) { all_side_threads().post(std::move(job)); }

}  // namespace strata::loop
