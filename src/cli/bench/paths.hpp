// What verbs share that measure the paths of the layers.
#pragma once

#include "cli/line/invocation.hpp"
#include "measure/run/plan.hpp"
#include "measure/run/testbed.hpp"

namespace strata::cli {

/// What the measuring flags ask for.
[[nodiscard]] measure::request request_of(const invocation& call);

/// Carries out what the flags ask for, and shows it as they say.
outcome<int> measure(const invocation& call, measure::testbed& testbed, bool has_plain);

}  // namespace strata::cli
