// The types of runtimes for programs: their options, figures and operations, as their rows say.
#pragma once

#include <nlohmann/json_fwd.hpp>

namespace strata::daemon {

/// As `GET /v1/types` answers.
[[nodiscard]] nlohmann::json types_json();

}  // namespace strata::daemon
