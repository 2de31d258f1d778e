// Which other sites' pages may read answers: CORS, as the Fetch standard has it.
#pragma once

#include <string>
#include <vector>

#include "http/exchange.hpp"

namespace strata::http {

/// What an answer to that request gets. `origins` are those allowed; `*` is all, who then cannot
/// send credentials.
[[nodiscard]] proto::http_fields cross_origin_fields(const std::vector<std::string>& origins,
                                                     const proto::http_request& request);

/// A question by a browser, before it sends the request of a page of another site.
[[nodiscard]] bool is_preflight(const proto::http_request& request);
/// Answers it, but for the `cross_origin_fields`. `methods`: those that may follow.
void answer_preflight(exchange& exchange, std::string_view methods);

}  // namespace strata::http
