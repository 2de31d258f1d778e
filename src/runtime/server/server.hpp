// The server runtime: listens on endpoints and passes messages between its clients.
#pragma once

#include <memory>

#include "runtime/operations.hpp"
#include "runtime/runtime.hpp"
#include "runtime/server/options.hpp"

namespace strata::runtime::server {

/// The figures of every runtime, and those of runtimes with HTTP and scripts.
[[nodiscard]] const std::vector<options::figure_row>& figure_rows();
[[nodiscard]] const std::vector<operation_row>& operation_rows();

/// Errors: invalid_argument if the options conflict.
[[nodiscard]] result<std::unique_ptr<runtime>> make(context&& context,
                                                    const nlohmann::json& options);

}  // namespace strata::runtime::server
