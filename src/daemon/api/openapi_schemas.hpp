// The schemas of the control API's description that are not generated from a table.
#pragma once

#include <nlohmann/json_fwd.hpp>

namespace strata::daemon {

[[nodiscard]] nlohmann::ordered_json fixed_schemas();

}  // namespace strata::daemon
