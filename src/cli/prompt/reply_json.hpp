// A cache's reply as a JSON value.
#pragma once

#include <nlohmann/json_fwd.hpp>

#include "proto/resp/resp_value.hpp"

namespace strata::cli {

/// Integers, doubles, booleans and null as themselves; a number that JSON cannot hold as text; a
/// string that is not UTF-8 as `{"base64": …}`; an error within a reply as `{"error": …}`; a map
/// whose keys are not all distinct strings as an array of pairs.
[[nodiscard]] nlohmann::json json_reply(const proto::resp_value& reply);

}  // namespace strata::cli
