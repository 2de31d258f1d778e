// The cache runtime: Redis's protocol and commands on a loop.
#pragma once

#include <memory>

#include "runtime/cache/options.hpp"
#include "runtime/operations.hpp"
#include "runtime/runtime.hpp"

namespace strata::runtime::cache {

/// The figures of every runtime and of a cache, and the operations of a cache.
[[nodiscard]] const std::vector<options::figure_row>& figure_rows();

[[nodiscard]] const std::vector<operation_row>& operation_rows();

/// Errors: invalid_argument if the options contradict each other.
[[nodiscard]] result<std::unique_ptr<runtime>> make(context&& context,
                                                    const nlohmann::json& options);

}  // namespace strata::runtime::cache
