// The target of a request, split into its parts. For HTTP/1.1 and HTTP/2 alike.
#pragma once

#include <string_view>

#include "proto/http/http1.hpp"

namespace strata::proto {

/// Sets the request's path and query from its target, and its Host if the target names one. Returns
/// false if the target has a bad percent-encoding, or names no host.
[[nodiscard]] bool split_target(http_request& request);

/// Reports whether a value is valid as Host, or as HTTP/2's :authority: a name and a port (RFC 3986
/// section 3.2.2). The name may be empty.
[[nodiscard]] bool is_host(std::string_view value);

}  // namespace strata::proto
