// The proxy runtime: passes the connections of its clients on to others.
#pragma once

#include <memory>

#include "runtime/proxy/options.hpp"
#include "runtime/runtime.hpp"

namespace strata::runtime::proxy {

/// What every runtime has, what those that serve HTTP have, and its own.
[[nodiscard]] const std::vector<options::figure_row>& figure_rows();

/// Those of each back, and of each route.
[[nodiscard]] std::span<const detail_row> detail_rows();

/// Errors: invalid_argument when the options do not make sense together.
[[nodiscard]] result<std::unique_ptr<runtime>> make(context&& given, const nlohmann::json& options);

}  // namespace strata::runtime::proxy
