// Replies of Redis's protocol as plain text, for people and scripts that speak to a cache in lines.
#pragma once

#include <string>
#include <string_view>

namespace strata::proto {

/// Whole replies as lines, each ended by LF: "ok" for +OK, "error: ERR …", numbers and strings as
/// they are, "(nil)" for nothing; of an array, set or map each element on a line of its own, in
/// order,
/// "(empty)" if there is none. What is cut off is left out. Replies nest no deeper than
/// `max_depth`.
[[nodiscard]] std::string plain_text(std::string_view replies);

inline constexpr unsigned max_reply_depth = 32;

}  // namespace strata::proto
