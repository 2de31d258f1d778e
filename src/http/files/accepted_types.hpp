// Which media types a client asks for (RFC 9110 section 12.5.1).
#pragma once

#include <string_view>

#include "proto/http/http1.hpp"

namespace strata::http {

/// The weight, in thousandths, of a media type that Accept names; 0 if it does not name it. A type
/// covered only by `*/*` or `text/*` does not count: such a client accepts everything.
[[nodiscard]] int accepted_weight(const proto::http_fields& headers, std::string_view type);

}  // namespace strata::http
