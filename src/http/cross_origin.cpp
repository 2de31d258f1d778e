#include "http/cross_origin.hpp"

#include <algorithm>

namespace strata::http {

proto::http_fields cross_origin_fields(const std::vector<std::string>& origins,
                                       const proto::http_request& request) {
  proto::http_fields fields;
  if (origins.empty()) return fields;
  const auto contains = [&](std::string_view text) {
    return std::ranges::find(origins, text) != origins.end();
  };
  const auto origin = request.header("origin");
  const bool takes_all = contains("*");
  // Without it, a cache might give one site the answer meant for another.
  fields.emplace_back("Vary", "Origin");
  if (!origin || (!takes_all && !contains(*origin))) return fields;
  fields.emplace_back("Access-Control-Allow-Origin", takes_all ? "*" : *origin);
  if (!takes_all) fields.emplace_back("Access-Control-Allow-Credentials", "true");
  fields.emplace_back("Access-Control-Expose-Headers", "Accept-Ranges, Content-Range, ETag");
  return fields;
}

bool is_preflight(const proto::http_request& request) {
  return request.method == "OPTIONS" && request.header("origin") &&
         request.header("access-control-request-method");
}

void answer_preflight(exchange& exchange, std::string_view methods) {
  answer_head head{.status = 204, .fields = {}, .length = {}};
  head.fields.emplace_back("Access-Control-Allow-Methods", methods);
  // It was parsed as a field value, so it is safe to write as one.
  if (const auto wanted = exchange.request().header("access-control-request-headers")) {
    head.fields.emplace_back("Access-Control-Allow-Headers", *wanted);
  }
  head.fields.emplace_back("Access-Control-Max-Age", "600");
  exchange.respond(std::move(head), "");
}

}  // namespace strata::http
