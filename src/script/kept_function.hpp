// A function of a script that the program keeps for a while, and calls. It may outlive its machine.
#pragma once

#include <span>

#include "script/machine.hpp"

namespace strata::script {

class kept_function {
 public:
  kept_function(machine& machine, int reference);
  kept_function(const kept_function&) = delete;
  kept_function& operator=(const kept_function&) = delete;
  ~kept_function();

  /// Its machine has gone, and it with that.
  [[nodiscard]] bool is_gone() const { return in_ == nullptr; }
  /// As `machine::start`. It is not gone.
  bool start(std::span<const argument> arguments, waiter* tell);

 private:
  friend class machine;
  machine* in_;
  int reference_;
};

}  // namespace strata::script
