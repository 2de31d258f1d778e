// A function of a script that the program keeps and calls. It may outlive its machine.
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

  /// Reports whether its machine, and the function with it, is gone.
  [[nodiscard]] bool is_gone() const { return in_ == nullptr; }
  /// As `machine::start`. The function must not be gone.
  bool start(std::span<const argument> arguments, waiter* waiter);

 private:
  friend class machine;
  machine* in_;
  int reference_;
};

}  // namespace strata::script
