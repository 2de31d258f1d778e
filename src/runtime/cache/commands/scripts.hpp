// What the commands of scripts and of functions have in common.
#pragma once

#include "runtime/cache/engine/evaluator.hpp"

namespace strata::runtime::cache {

class call;

/// Returns what runs scripts. Null, after an error reply, in a cache that has none, as tests have
/// it.
[[nodiscard]] evaluator* scripts_of(call& call);

}  // namespace strata::runtime::cache
