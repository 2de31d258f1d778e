// The clients that wait for a backend with room: first come, first served.
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
  /// Waits until `may_go` holds and no earlier one could go, until `limit` at most; reports whether
  /// that came true. The caller takes what it waited for before it waits for anything else.
  [[nodiscard]] loop::task<bool> wait(std::function<bool()> may_go, loop::time_point limit);
  /// Makes the waiting clients check at this turn's end, in order. Changes by time alone (a
  /// backend's rest has ended) are noticed without it.
  void call() { called_.notify(); }

 private:
  loop::condition called_;
  std::size_t size_ = 0;
};

}  // namespace strata::runtime::proxy
