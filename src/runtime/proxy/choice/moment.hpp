// A point in time that several threads read and write.
#pragma once

#include <atomic>

#include "loop/timer.hpp"

namespace strata::runtime::proxy {

class moment {
 public:
  moment& operator=(loop::time_point time) {
    since_epoch_.store(time.time_since_epoch().count(), std::memory_order_relaxed);
    return *this;
  }
  /// The clock's epoch until a time is set.
  [[nodiscard]] loop::time_point get() const {
    return loop::time_point(loop::duration(since_epoch_.load(std::memory_order_relaxed)));
  }

 private:
  std::atomic<loop::duration::rep> since_epoch_ = 0;
};

}  // namespace strata::runtime::proxy
