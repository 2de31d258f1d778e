// Replies of a Redis server as scripts have them.
#pragma once

#include "proto/resp/resp_value.hpp"
#include "script/library.hpp"

namespace strata::runtime::scripting {

/// Nothing is nil, an error is nil and its text. Within lists nothing is null, and an error is a
/// table `{err = text}`. Whole numbers that a script's would not hold exactly are texts.
[[nodiscard]] script::answers script_values(proto::resp_value&& reply);

}  // namespace strata::runtime::scripting
