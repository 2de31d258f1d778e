// The description of the control API, as docs/openapi.yaml has it: made of the routes' rows, the
// option rows and the figure rows.
#pragma once

#include <span>
#include <string>

#include "daemon/api/route_row.hpp"

namespace strata::daemon {

/// OpenAPI 3.0 as YAML.
[[nodiscard]] std::string openapi_text(std::span<const route_row> routes);

}  // namespace strata::daemon
