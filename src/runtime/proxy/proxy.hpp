// The proxy runtime: passes its clients' connections on to backends.
#pragma once

#include <memory>

#include "runtime/operations.hpp"
#include "runtime/proxy/options.hpp"
#include "runtime/runtime.hpp"

namespace strata::runtime::proxy {

[[nodiscard]] const std::vector<operation_row>& operation_rows();

/// Errors: invalid_argument if the options conflict.
[[nodiscard]] result<std::unique_ptr<runtime>> make(context&& context,
                                                    const nlohmann::json& options);

}  // namespace strata::runtime::proxy
