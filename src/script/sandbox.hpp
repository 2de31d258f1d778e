// What of Lua's own libraries a script gets.
#pragma once

struct lua_State;

namespace strata::script {

/// Opens the libraries, and takes away what leads out of the machine, unless it `is_unsafe`; what
/// catches errors lets those through that end a handler. Called protected: it may raise errors.
void open_libraries(lua_State* state, bool is_unsafe);

/// What a coroutine yields that waits for the program. Nothing else is this.
[[nodiscard]] void* await_mark();

}  // namespace strata::script
