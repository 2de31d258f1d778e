// `string.find`, `match`, `gmatch`, `gsub` and `rep`, which stop when a handler's time is over.
#pragma once

struct lua_State;

namespace strata::script {

/// Replaces Lua's own functions. Called in protected mode.
void open_patterns(lua_State* state);

}  // namespace strata::script
