// Which requests go where: `host=api.example.com path=/v1/* -> 10.0.0.1:80, 10.0.0.2:80 strip=/v1`.
#pragma once

#include <optional>
#include <string>
#include <vector>

#include "proto/http/http1.hpp"
#include "strata/base/result.hpp"

namespace strata::runtime::proxy {

/// One `--route`, as it was written. What is empty is no condition.
struct route_text {
  std::string text;
  std::string host;        ///< in lower case; `*.name` is all below it
  std::string path;        ///< without the star
  bool is_prefix = false;  ///< it had a star
  std::vector<std::string> methods;
  std::vector<std::string> backends;  ///< as of `--backend`; none: it is answered here
  std::string strip;                  ///< taken off the path's beginning
  int status = 0;                     ///< of an answer of the proxy's own
  std::string location;               ///< of a redirection; a star at its end is the path's
};

/// Errors: invalid_argument, naming the text and what is wrong with it; but not of the backends.
[[nodiscard]] result<route_text> parse_route(const std::string& text);

/// A request's path as routes see it: decoded, without `.` and `..`, and each slash once. So
/// another spelling of a path leads nowhere else.
[[nodiscard]] std::string plain_path(std::string_view decoded);

/// It goes by the server's name alone, and leads to backends: as routes of connections do.
[[nodiscard]] bool is_of_names(const route_text& route);
/// `name`: a host in small letters.
[[nodiscard]] bool matches_name(const route_text& route, const std::string& name);

/// `path`: plain.
[[nodiscard]] bool matches(const route_text& route, const proto::http_request& request,
                           std::string_view path);

/// Where a request for `target` is sent on to.
[[nodiscard]] std::string location_for(const route_text& route, const std::string& target);

/// The target without the route's prefix. Nullopt: it spells that otherwise.
[[nodiscard]] std::optional<std::string> stripped(const route_text& route,
                                                  const std::string& target);

}  // namespace strata::runtime::proxy
