// The proxy runtime: passes the connections of its clients on to others.
#pragma once

#include <memory>

#include "runtime/proxy/options.hpp"
#include "runtime/runtime.hpp"

namespace strata::runtime::proxy {

/// Errors: invalid_argument when the options do not make sense together.
[[nodiscard]] result<std::unique_ptr<runtime>> make(context&& context,
                                                    const nlohmann::json& options);

}  // namespace strata::runtime::proxy
