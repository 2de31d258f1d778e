// Shared by the verbs that measure the paths of the layers.
#pragma once

#include "cli/line/invocation.hpp"
#include "measure/run/plan.hpp"
#include "measure/run/testbed.hpp"

namespace strata::cli {

/// The request that the measuring flags describe.
[[nodiscard]] measure::request request_of(const invocation& call);

/// Carries out the request, and shows the result as the flags say.
outcome<int> measure(const invocation& call, measure::testbed& testbed, bool has_plain);

}  // namespace strata::cli
