// The server runtime: listens on endpoints and passes messages between those who connect.
#pragma once

#include <memory>

#include "runtime/runtime.hpp"
#include "runtime/server/options.hpp"
#include "runtime/web_figures.hpp"

namespace strata::runtime::server {

/// Errors: invalid_argument when the options do not make sense together.
[[nodiscard]] result<std::unique_ptr<runtime>> make(context&& given, const nlohmann::json& options);

}  // namespace strata::runtime::server
