// `table.sort`, which stops when a handler's time is over.
#pragma once

struct lua_State;

namespace strata::script {

/// Replaces Lua's own function. Called in protected mode.
void open_sorting(lua_State* state);

}  // namespace strata::script
