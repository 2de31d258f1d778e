// Dates in HTTP's format (RFC 9110 section 5.6.7).
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>

namespace strata::http {

/// Formats seconds since 1970 as `Sun, 06 Nov 1994 08:49:37 GMT`.
[[nodiscard]] std::string date_text(std::int64_t seconds);
/// The present time; formatted once a second. Valid until this thread calls it again.
[[nodiscard]] std::string_view date_now();
/// Parses the form above and the two obsolete ones; nullopt for anything else.
[[nodiscard]] std::optional<std::int64_t> parse_date(std::string_view text);

}  // namespace strata::http
