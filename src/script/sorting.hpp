// `table.sort`, which ends when a handler's time is over.
#pragma once

struct lua_State;

namespace strata::script {

/// Takes the place of Lua's own. Called protected.
void open_sorting(lua_State* state);

}  // namespace strata::script
