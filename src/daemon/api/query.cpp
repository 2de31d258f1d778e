#include "daemon/api/query.hpp"

#include <fmt/format.h>

#include <algorithm>

namespace strata::daemon {

result<nlohmann::json> read_query(const proto::http_request& request,
                                  std::span<const options::option_row> rows, std::string_view name,
                                  bool has_timeout) {
  auto values = nlohmann::json::object();
  for (const auto& [key, text] : request.query) {
    if (key == "timeout" && has_timeout) continue;
    const auto row = std::ranges::find(rows, key, &options::option_row::key);
    if (row == rows.end()) {
      return failure(errc::invalid_argument, "read the request",
                     fmt::format("'{}' takes no parameter '{}'", name, key),
                     "see GET /v1/openapi.yaml");
    }
    auto value = options::parse_option(*row, text);
    if (!value) return std::unexpected(value.error());
    if (row->kind == options::option_kind::list) {
      values[key].push_back(std::move(*value));
    } else {
      values[key] = std::move(*value);
    }
  }
  return values;
}

}  // namespace strata::daemon
