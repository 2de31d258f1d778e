// How verbs show the daemon's answer, in the requested form.
#pragma once

#include <nlohmann/json_fwd.hpp>

#include "cli/line/invocation.hpp"

namespace strata::cli {

/// Prints "NAME: running at tcp://0.0.0.0:9000", or the name alone if quiet. Prints nothing if the
/// output is JSON: the caller prints that, since it knows whether more follows.
void report_state(const invocation& call, const nlohmann::json& detail);

/// Whether the words are one plain name.
[[nodiscard]] bool names_one(const invocation& call);

}  // namespace strata::cli
