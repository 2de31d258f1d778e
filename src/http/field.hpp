// A header field as users write it: `Name: value`.
#pragma once

#include <string>
#include <string_view>
#include <utility>

#include "net/endpoint_url.hpp"
#include "strata/base/result.hpp"

namespace strata::http {

/// Parses a field. Errors: invalid_argument if the name is no token, or the value has characters
/// that a value may not have (RFC 9110 section 5).
[[nodiscard]] result<std::pair<std::string, std::string>> parse_field(std::string_view text);

/// The value of the Host field in requests to that URL: without the scheme's default port.
[[nodiscard]] std::string host_field(const net::endpoint_url& url);

}  // namespace strata::http
