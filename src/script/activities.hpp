// The activities of a machine: handlers that run or wait, each in a coroutine of the script.
//
// It owns them and keeps some for reuse; the script's state owns the coroutines. A machine owns
// this. For the machine's loop.
#pragma once

#include <cstddef>
#include <memory>
#include <vector>

#include "script/handler.hpp"

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

  /// Lets the waiter receive the end.
  void attach(waiter& receiver);
  /// Leaves the waiter, which receives no end.
  void detach();
  /// Reports the end to the waiter, if there is one.
  void report(const finished& outcome) const;
  /// Leaves the waiter, and reports to it that the handler has failed.
  void end_early();
};

class activities {
 public:
  activities() = default;
  activities(const activities&) = delete;
  activities& operator=(const activities&) = delete;

  /// Returns an activity whose coroutine is empty. `waiter` may be null.
  activity& take(lua_State* state, waiter* waiter);
  /// Takes it back once its handler has ended. `is_usable`: its coroutine can run another.
  void release(lua_State* state, activity& ended, bool is_usable);
  /// Ends all early, before the machine is destroyed.
  void end_early();

 private:
  std::vector<std::unique_ptr<activity>> all_;
  std::vector<activity*> idle_;
};

}  // namespace strata::script
