// How verbs show what the daemon answered, in the form that was asked for.
#pragma once

#include <nlohmann/json_fwd.hpp>

#include "cli/line/invocation.hpp"

namespace strata::cli {

/// "NAME: running at tcp://0.0.0.0:9000", or the name alone when quiet. Nothing when the answers
/// are to be JSON: that is for the caller, who knows whether there are more.
void report_state(const invocation& call, const nlohmann::json& detail);

/// True when the words are one plain name.
[[nodiscard]] bool names_one(const invocation& call);

}  // namespace strata::cli
