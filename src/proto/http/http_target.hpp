// Where a request goes: its target, taken apart. Of HTTP/1.1 and HTTP/2 alike.
#pragma once

#include <string_view>

#include "proto/http/http1.hpp"

namespace strata::proto {

/// Sets the request's path and query by its target, and its Host where the target names one. False:
/// it has a bad percent-encoding, or names no host.
[[nodiscard]] bool split_target(http_request& request);

/// Whether a value may be a Host, or HTTP/2's :authority: a name and a port (RFC 3986 section
/// 3.2.2). A name may be empty.
[[nodiscard]] bool is_host(std::string_view value);

}  // namespace strata::proto
