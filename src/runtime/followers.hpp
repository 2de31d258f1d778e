// The readers of lines that any thread may write, such as the lines of a log.
//
// Each reader receives lines on the loop that it named, in order. A reader that falls behind by
// more than `most_waiting` bytes loses lines until it has caught up; `on_loss` reports how many.
#pragma once

#include <algorithm>
#include <atomic>
#include <cstddef>
#include <functional>
#include <memory>
#include <mutex>
#include <utility>
#include <vector>

#include "loop/loop.hpp"

namespace strata::runtime {

template <class Line>
class followers {
 public:
  /// Functions that are called on the reader's loop.
  struct reader {
    std::function<void(const Line& line)> on_line;
    /// `count` lines are missing between the last line and the next one.
    std::function<void(std::size_t count)> on_loss = [](std::size_t) {};
    /// There will be no more lines.
    std::function<void()> on_end = [] {};
  };

 private:
  struct state {
    state(loop::loop& loop, reader callbacks) : loop(loop), reader(std::move(callbacks)) {}
    loop::loop& loop;
    followers::reader reader;          // touched on the loop's thread alone
    bool is_over = false;              // likewise
    std::atomic<std::size_t> waiting;  // bytes
    std::size_t lost = 0;              // lines, since one was posted; under the lock
  };

 public:
  followers() = default;
  followers(const followers&) = delete;
  followers& operator=(const followers&) = delete;

  /// A subscription. It ends when it is destroyed, on the loop's thread. The followers outlive it.
  class following {
   public:
    following() = default;
    following(following&& other) noexcept
        : all_(std::exchange(other.all_, nullptr)), state_(std::move(other.state_)) {}
    following& operator=(following&& other) noexcept {
      end();
      all_ = std::exchange(other.all_, nullptr);
      state_ = std::move(other.state_);
      return *this;
    }
    ~following() { end(); }

   private:
    friend class followers;
    void end() {
      if (state_ == nullptr) return;
      state_->is_over = true;
      all_->remove(state_);
      state_.reset();
    }
    followers* all_ = nullptr;
    std::shared_ptr<state> state_;
  };

  [[nodiscard]] following add(loop::loop& loop, reader reader) {
    following added;
    added.all_ = this;
    added.state_ = std::make_shared<state>(loop, std::move(reader));
    const std::scoped_lock guard(lock_);
    states_.push_back(added.state_);
    count_.store(states_.size(), std::memory_order_relaxed);
    return added;
  }

  /// Whether there are no readers. From any thread.
  [[nodiscard]] bool empty() const { return count_.load(std::memory_order_relaxed) == 0; }

  /// Sends a line to all readers; `bytes` is its memory. From any thread.
  void write(const std::shared_ptr<const Line>& line, std::size_t bytes) {
    const std::scoped_lock guard(lock_);
    for (const auto& each : states_) {
      if (each->waiting > most_waiting) {
        ++each->lost;
        continue;
      }
      each->waiting += bytes;
      each->loop.post([this, reader = each, line, bytes, lost = std::exchange(each->lost, 0)] {
        const bool is_last = reader->waiting.fetch_sub(bytes) == bytes;
        if (lost != 0 && !reader->is_over) reader->reader.on_loss(lost);
        if (!reader->is_over) reader->reader.on_line(*line);
        if (is_last && !reader->is_over) report_loss(*reader);
      });
    }
  }

  /// Notifies all readers that there will be no more lines. From any thread.
  void end() {
    const std::scoped_lock guard(lock_);
    for (const auto& each : states_) {
      each->loop.post([reader = each] {
        if (!reader->is_over) reader->reader.on_end();
      });
    }
  }

 private:
  static constexpr std::size_t most_waiting = 8U << 20U;

  void remove(const std::shared_ptr<state>& gone) {
    const std::scoped_lock guard(lock_);
    std::erase(states_, gone);
    count_.store(states_.size(), std::memory_order_relaxed);
  }

  // No other line may be written after the lost ones.
  void report_loss(state& reader) {
    std::size_t lost = 0;
    {
      const std::scoped_lock guard(lock_);
      lost = std::exchange(reader.lost, 0);
    }
    if (lost != 0) reader.reader.on_loss(lost);
  }

  std::mutex lock_;
  std::vector<std::shared_ptr<state>> states_;
  std::atomic<std::size_t> count_ = 0;
};

}  // namespace strata::runtime
