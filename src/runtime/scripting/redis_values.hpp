// Replies of a Redis server as Lua values.
#pragma once

#include "proto/resp/resp_value.hpp"
#include "script/library.hpp"

namespace strata::runtime::scripting {

/// A null reply is nil, an error is nil and its text. Within lists a null reply is null, and an
/// error is a table `{err = text}`. Integers that a Lua number cannot hold exactly are texts.
[[nodiscard]] script::answers script_values(proto::resp_value&& reply);

}  // namespace strata::runtime::scripting
