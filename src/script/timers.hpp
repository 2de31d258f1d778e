// The timers that a script has set. They call its functions, each as a handler of its own.
//
// It owns the timers, and with them the functions; a machine owns it. For the machine's loop.
#pragma once

#include <cstddef>
#include <cstdint>
#include <map>
#include <memory>

#include "loop/loop.hpp"
#include "script/call.hpp"

namespace strata::script {

class timers {
 public:
  /// `machine`, which runs the functions, must outlive the timers. At most `limit` exist.
  timers(machine& machine, loop::loop& loop, std::size_t limit);
  timers(const timers&) = delete;
  timers& operator=(const timers&) = delete;
  ~timers();

  /// Calls the function once, or repeatedly until it is disarmed. Returns 0 if there are too many
  /// timers.
  std::uint64_t arm(loop::duration after, bool repeats, value_ref function);
  void disarm(std::uint64_t timer);
  /// Disarms all.
  void clear();

 private:
  class timer;

  machine& machine_;
  loop::loop& loop_;
  std::size_t limit_;
  std::map<std::uint64_t, std::unique_ptr<timer>> all_;
  std::uint64_t last_id_ = 0;
};

}  // namespace strata::script
