// What kinds of answer a client asks for (RFC 9110 section 12.5.1).
#pragma once

#include <string_view>

#include "proto/http/http1.hpp"

namespace strata::http {

/// The weight, in thousandths, of a media type that Accept names; 0 when it does not. What only
/// `*/*` or `text/*` covers is not asked for: everything is, by those who say that.
[[nodiscard]] int accepted_weight(const proto::http_fields& headers, std::string_view type);

}  // namespace strata::http
