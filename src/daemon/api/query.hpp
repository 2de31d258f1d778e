// Reads the query of a request to the control API by the rows of its operation.
#pragma once

#include <nlohmann/json.hpp>
#include <span>
#include <string_view>

#include "options/option_table.hpp"
#include "proto/http/http1.hpp"

namespace strata::daemon {

/// Returns the values by their rows' keys; a list has the values of all parameters of its key.
/// `name` is the operation's, for errors; `has_timeout` ignores the key `timeout`. Errors:
/// invalid_argument for an unknown key or a wrong value.
[[nodiscard]] result<nlohmann::json> read_query(const proto::http_request& request,
                                                std::span<const options::option_row> rows,
                                                std::string_view name, bool has_timeout = false);

}  // namespace strata::daemon
