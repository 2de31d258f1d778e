// Counts the operations in progress, so that the daemon's end can wait for them. For one loop's
// thread.
#pragma once

#include <cstddef>

#include "loop/condition.hpp"

namespace strata::daemon {

class operation_count {
 public:
  /// Counts one operation while it lives.
  class member {
   public:
    explicit member(operation_count& count) : count_(count) { ++count_.size_; }
    member(const member&) = delete;
    member& operator=(const member&) = delete;
    ~member() {
      if (--count_.size_ == 0) count_.is_empty_.notify();
    }

   private:
    operation_count& count_;
  };

  explicit operation_count(loop::loop& loop) : is_empty_(loop) {}

  /// Waits until there are none.
  [[nodiscard]] auto drained() {
    return is_empty_.wait([this] { return size_ == 0; });
  }

 private:
  std::size_t size_ = 0;
  loop::condition is_empty_;
};

}  // namespace strata::daemon
