// A machine's records of its handlers, functions and timers.
#pragma once

#include <cstddef>
#include <string>
#include <vector>

#include "script/machine.hpp"

namespace strata::script {

/// A handler that runs or waits, in a coroutine that is reused afterwards.
struct activity {
  lua_State* thread = nullptr;
  int anchor = 0;  // keeps the thread from being collected
  waiter* awaiter = nullptr;
  std::size_t callback = callback_run::no_callback;
  series* steps = nullptr;  // `awaiter`, if it is a series
  bool has_begun = false;
  bool is_beginning = false;  // to wait
};

struct machine::bound_function {
  const function_row* row;
  std::vector<parameter> parameters;
  std::string shown_name;  // `self.send`
  void* host;
  const object_kind* kind = nullptr;  // of a method
};

class machine::script_timer final : public loop::timer {
 public:
  script_timer(machine& machine, std::uint64_t id, loop::duration interval, bool repeats,
               value_ref function)
      : of_(machine),
        id_(id),
        interval_(interval),
        repeats_(repeats),
        function_(std::move(function)) {}

 private:
  void on_timer() override {
    if (repeats_) {
      of_.loop_.arm_after(*this, interval_);
      of_.start(function_, {});
      return;
    }
    // The called function may disarm this timer.
    const auto self = of_.timers_.extract(id_);
    of_.start(function_, {});
  }

  machine& of_;
  std::uint64_t id_;
  loop::duration interval_;
  bool repeats_;
  value_ref function_;
};

}  // namespace strata::script
