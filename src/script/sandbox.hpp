// The part of Lua's own libraries that a script gets.
#pragma once

struct lua_State;

namespace strata::script {

/// Opens the libraries, and removes functions that lead out of the machine, unless it `is_unsafe`;
/// functions that catch errors pass on those that end a handler. Called in protected mode: may
/// raise errors.
void open_libraries(lua_State* state, bool is_unsafe);

/// The value that a coroutine yields when it waits for the program. No other value equals it.
[[nodiscard]] void* await_mark();

}  // namespace strata::script
