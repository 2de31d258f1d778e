// A header field as people write it: `Name: value`.
#pragma once

#include <string>
#include <string_view>
#include <utility>

#include "net/endpoint_url.hpp"
#include "strata/base/result.hpp"

namespace strata::http {

/// Errors: invalid_argument when the name is no token, or the value has what a value may not have
/// (RFC 9110 section 5).
[[nodiscard]] result<std::pair<std::string, std::string>> parse_field(std::string_view text);

/// What a request to that URL says in its Host field: no port where that is the scheme's own.
[[nodiscard]] std::string host_field(const net::endpoint_url& url);

}  // namespace strata::http
