// The description of the control API, the content of docs/openapi.yaml: generated from the rows of
// the routes, the options and the figures.
#pragma once

#include <span>
#include <string>

#include "daemon/api/route_row.hpp"

namespace strata::daemon {

/// OpenAPI 3.0 as YAML.
[[nodiscard]] std::string openapi_text(std::span<const route_row> routes);

}  // namespace strata::daemon
