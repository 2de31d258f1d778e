// What the commands of scripts and of functions have in common.
#pragma once

#include "runtime/cache/engine/scripts/evaluator.hpp"

namespace strata::runtime::cache {

class call;

/// Returns what runs scripts. Null, after an error reply, in a cache that has none, as tests have
/// it.
[[nodiscard]] evaluator* scripts_of(call& call);
/// SCRIPT KILL, or FUNCTION KILL: ends what is interrupted, and replies.
void kill_script(call& call, bool is_function);

}  // namespace strata::runtime::cache
