// Percent-encoding of URLs (RFC 3986 section 2.1) and of form queries (`+` for a space).
#pragma once

#include <optional>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

namespace strata::text {

/// Returns `text` with everything but letters, digits and `-._~` encoded: suitable for one path
/// segment, and for a query's names and values.
[[nodiscard]] std::string percent_encode(std::string_view text);

enum class plus_sign : bool { literal, space };

/// Returns the decoded text; nullopt if a `%` is not followed by two hexadecimal digits, or if it
/// encodes a NUL, which none of our paths and names may contain.
[[nodiscard]] std::optional<std::string> percent_decode(std::string_view text, plus_sign plus);

/// Parses `a=1&b&c=x%20y` to pairs in their order; a name without `=` has an empty value. Returns
/// nullopt as percent_decode does.
[[nodiscard]] std::optional<std::vector<std::pair<std::string, std::string>>> parse_query(
    std::string_view query);

}  // namespace strata::text
