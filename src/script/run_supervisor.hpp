// The decision how long the functions of a machine may run, where that is not a fixed limit.
#pragma once

#include <string>

#include "loop/loop.hpp"

namespace strata::script {

class run_supervisor {
 public:
  /// What becomes of a run whose time is over.
  struct decision {
    loop::duration more = {};  ///< the CPU time that it gets; zero: it ends
    std::string error = {};    ///< with this error, which it cannot catch; empty: the limit's
  };

  /// Returns the CPU time of a run that begins.
  [[nodiscard]] virtual loop::duration allowance() = 0;
  /// Called from within the run, wherever that is.
  [[nodiscard]] virtual decision on_overtime() = 0;

 protected:
  ~run_supervisor() = default;
};

}  // namespace strata::script
