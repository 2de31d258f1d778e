// Routes of requests: `host=api.example.com path=/v1/* -> 10.0.0.1:80, 10.0.0.2:80 strip=/v1`.
#pragma once

#include <optional>
#include <string>
#include <vector>

#include "proto/http/http1.hpp"
#include "strata/base/result.hpp"

namespace strata::runtime::proxy {

/// One `--route`, parsed. An empty member is no condition.
struct route_text {
  std::string text;
  std::string host;        ///< in lower case; `*.name` includes all below it
  std::string path;        ///< without the star
  bool is_prefix = false;  ///< it had a star
  std::vector<std::string> methods;
  std::vector<std::string> backends;  ///< as in `--backend`; none: it is answered here
  std::string strip;                  ///< removed from the path's beginning
  int status = 0;                     ///< of the proxy's own answer
  std::string location;               ///< of a redirection; a final star stands for the path
};

/// Parses a route. Errors: invalid_argument, naming the text and the mistake; backends are not
/// checked.
[[nodiscard]] result<route_text> parse_route(const std::string& text);

/// A request's path in the form that routes compare: decoded, without `.` and `..`, and with single
/// slashes. So another spelling of a path takes the same route.
[[nodiscard]] std::string plain_path(std::string_view decoded);

/// Whether it depends on the server's name alone, and leads to backends, as a route of connections
/// must.
[[nodiscard]] bool is_of_names(const route_text& route);
/// `name`: a host in lower case.
[[nodiscard]] bool matches_name(const route_text& route, const std::string& name);

/// `path`: in plain form.
[[nodiscard]] bool matches(const route_text& route, const proto::http_request& request,
                           std::string_view path);

/// The redirection's target for a request of `target`.
[[nodiscard]] std::string location_for(const route_text& route, const std::string& target);

/// The target without the route's prefix. Nullopt if the target spells the prefix differently.
[[nodiscard]] std::optional<std::string> stripped(const route_text& route,
                                                  const std::string& target);

}  // namespace strata::runtime::proxy
