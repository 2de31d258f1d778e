// The client runtime: connects to one endpoint, and sends and receives messages.
#pragma once

#include <memory>

#include "runtime/client/options.hpp"
#include "runtime/operations.hpp"
#include "runtime/runtime.hpp"

namespace strata::runtime::client {

[[nodiscard]] const std::vector<operation_row>& operation_rows();

/// Errors: invalid_argument if the options conflict.
[[nodiscard]] result<std::unique_ptr<runtime>> make(context&& context,
                                                    const nlohmann::json& options);

}  // namespace strata::runtime::client
