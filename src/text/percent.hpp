// Percent-encoding of URLs (RFC 3986 section 2.1) and of form queries (`+` for a space).
#pragma once

#include <optional>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

namespace strata::text {

/// `text` with everything but letters, digits and `-._~` encoded: right for one path segment and
/// for a query's names and values.
[[nodiscard]] std::string percent_encode(std::string_view text);

enum class plus_sign : bool { literal, space };

/// The decoded text; nullopt when a `%` is not followed by two hexadecimal digits, or when it
/// encodes a NUL, which no path or name of ours may hold.
[[nodiscard]] std::optional<std::string> percent_decode(std::string_view text, plus_sign plus);

/// `a=1&b&c=x%20y` as pairs in their order; a name without `=` has an empty value. nullopt as for
/// percent_decode.
[[nodiscard]] std::optional<std::vector<std::pair<std::string, std::string>>> parse_query(
    std::string_view query);

}  // namespace strata::text
