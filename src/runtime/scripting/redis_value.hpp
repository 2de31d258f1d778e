// Values of Redis's protocol as scripts have them.
#pragma once

#include <nlohmann/json_fwd.hpp>

#include "proto/resp_value.hpp"

namespace strata::runtime::scripting {

/// Strings and integers as they are, arrays and sets as arrays, maps by their keys. Null is JSON's;
/// an error within is its text.
[[nodiscard]] nlohmann::json json_of(const proto::resp_value& of);

}  // namespace strata::runtime::scripting
