// The query of a request to the control API, read by the rows of what it asks for.
#pragma once

#include <nlohmann/json.hpp>
#include <span>
#include <string_view>

#include "options/option_table.hpp"
#include "proto/http/http1.hpp"

namespace strata::daemon {

/// The values by their rows' keys; `name` is that of the operation. `timeout` is passed over where
/// `has_timeout`. Errors: invalid_argument for a key that no row has, or a wrong value.
[[nodiscard]] result<nlohmann::json> read_query(const proto::http_request& request,
                                                std::span<const options::option_row> rows,
                                                std::string_view name, bool has_timeout = false);

}  // namespace strata::daemon
