// The functions of the program that a script can call: those of global tables, and the methods of
// objects.
//
// It owns the records that the script's values refer to, so it must outlive the state. A machine
// owns it. For the machine's loop.
#pragma once

#include <memory>
#include <vector>

#include "loop/task.hpp"
#include "script/call.hpp"
#include "script/library.hpp"

namespace strata::script {

/// A call of a function that waits, until its handler is suspended.
struct pending_call {
  bool is_there = false;
  loop::task<answers> work;
  value_ref object;  ///< that the call gives when the work succeeds; may be empty
};

struct bound_function;

class bound_functions {
 public:
  bound_functions();
  bound_functions(const bound_functions&) = delete;
  bound_functions& operator=(const bound_functions&) = delete;
  ~bound_functions();

  /// As `machine::add`.
  void add(lua_State* state, const library& table, void* host);
  /// As `machine::make_kind`.
  void add_kind(lua_State* state, const object_kind& kind);

 private:
  std::vector<std::unique_ptr<bound_function>> all_;
};

}  // namespace strata::script
