// Those who wait for a backend that is not full: first come, first served.
//
// For one loop's thread.
#pragma once

#include <cstddef>
#include <functional>

#include "loop/condition.hpp"
#include "loop/task.hpp"

namespace strata::runtime::proxy {

class waiting_line {
 public:
  explicit waiting_line(loop::loop& loop) : called_(loop) {}

  [[nodiscard]] bool is_empty() const { return size_ == 0; }
  /// Awaits that `may_go` holds and none before could go, until `limit` at the longest; says
  /// whether it came true. What it may go to is to be taken before anything else is awaited.
  [[nodiscard]] loop::task<bool> wait(std::function<bool()> may_go, loop::time_point limit);
  /// Some may be able to go: they are asked at this turn's end, in their order. What comes about
  /// by time alone (a backend has rested) is seen without.
  void call() { called_.notify(); }

 private:
  loop::condition called_;
  std::size_t size_ = 0;
};

}  // namespace strata::runtime::proxy
