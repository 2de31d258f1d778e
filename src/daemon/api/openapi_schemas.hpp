// The schemas of the control API's description that no table has.
#pragma once

#include <nlohmann/json_fwd.hpp>

namespace strata::daemon {

[[nodiscard]] nlohmann::ordered_json fixed_schemas();

}  // namespace strata::daemon
