// The server runtime: listens on endpoints and passes messages between those who connect.
#pragma once

#include <memory>

#include "runtime/operations.hpp"
#include "runtime/runtime.hpp"
#include "runtime/server/options.hpp"

namespace strata::runtime::server {

/// What every runtime has, and what those that serve HTTP and run scripts have.
[[nodiscard]] const std::vector<options::figure_row>& figure_rows();
[[nodiscard]] const std::vector<operation_row>& operation_rows();

/// Errors: invalid_argument when the options do not make sense together.
[[nodiscard]] result<std::unique_ptr<runtime>> make(context&& context,
                                                    const nlohmann::json& options);

}  // namespace strata::runtime::server
