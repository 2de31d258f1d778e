// Which other sites' pages may read answers: CORS, as the Fetch standard defines it.
#pragma once

#include <string>
#include <vector>

#include "http/exchange.hpp"

namespace strata::http {

/// The fields for the answer to that request. `origins` are the allowed ones; `*` allows all, which
/// then cannot send credentials.
[[nodiscard]] proto::http_fields cross_origin_fields(const std::vector<std::string>& origins,
                                                     const proto::http_request& request);

/// Whether the request is a preflight: a browser's query before it sends a page's request to
/// another site.
[[nodiscard]] bool is_preflight(const proto::http_request& request);
/// Answers a preflight, without the `cross_origin_fields`. `methods`: the allowed ones.
void answer_preflight(exchange& exchange, std::string_view methods);

}  // namespace strata::http
