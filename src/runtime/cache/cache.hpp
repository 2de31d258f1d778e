// The cache runtime: Redis's protocol and commands on a loop.
#pragma once

#include <memory>

#include "runtime/cache/options.hpp"
#include "runtime/operations.hpp"
#include "runtime/runtime.hpp"

namespace strata::runtime::cache {

/// What every runtime counts, and what a cache does.
[[nodiscard]] const std::vector<options::figure_row>& figure_rows();

[[nodiscard]] const std::vector<operation_row>& operation_rows();

/// Errors: invalid_argument when the options do not make sense together.
[[nodiscard]] result<std::unique_ptr<runtime>> make(context&& context,
                                                    const nlohmann::json& options);

}  // namespace strata::runtime::cache
