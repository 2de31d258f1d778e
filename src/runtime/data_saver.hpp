// What a runtime is, too, that has data which its end would lose.
#pragma once

#include <atomic>

#include "loop/loop.hpp"

namespace strata::runtime {

class data_saver {
 public:
  /// Called when running, before `stop`: saves what its end would lose, and goes on running.
  /// Errors: what could not be saved; timed_out at `limit`, canceled once `hurried` is set. Then it
  /// should not be stopped.
  virtual loop::task<result<void>> save(loop::time_point limit,
                                        const std::atomic<bool>& hurried) = 0;

 protected:
  ~data_saver() = default;
};

}  // namespace strata::runtime
