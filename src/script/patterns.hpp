// `string.find`, `match`, `gmatch`, `gsub` and `rep`, which end when a handler's time is over.
#pragma once

struct lua_State;

namespace strata::script {

/// Takes the place of Lua's own. Called protected.
void open_patterns(lua_State* state);

}  // namespace strata::script
