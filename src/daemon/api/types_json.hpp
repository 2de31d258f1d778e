// The runtime types for programs: their options, figures and operations, taken from their rows.
#pragma once

#include <nlohmann/json_fwd.hpp>

namespace strata::daemon {

/// The answer to `GET /v1/types`.
[[nodiscard]] nlohmann::json types_json();

}  // namespace strata::daemon
