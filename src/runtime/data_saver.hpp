// Additional interface of a runtime with data that its end would lose.
#pragma once

#include <atomic>

#include "loop/loop.hpp"

namespace strata::runtime {

class data_saver {
 public:
  /// Called while running, before `stop`: saves the data that its end would lose, and keeps
  /// running. Errors: the data that could not be saved; timed_out at `limit`, canceled once
  /// `hurried` is set. Do not stop the runtime then.
  virtual loop::task<result<void>> save(loop::time_point limit,
                                        const std::atomic<bool>& hurried) = 0;

 protected:
  ~data_saver() = default;
};

}  // namespace strata::runtime
