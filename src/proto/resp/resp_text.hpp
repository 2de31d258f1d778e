// Replies of Redis's protocol as plain text, for people and scripts that use a cache line by line.
#pragma once

#include <string>
#include <string_view>

namespace strata::proto {

/// Converts whole replies to lines, each ended by LF: "ok" for +OK, "error: ERR …", numbers and
/// strings as they are, "(nil)" for null; for an array, set or map each element on its own line, in
/// order, "(empty)" if there is none. Truncated replies are left out. Replies nest no deeper than
/// `max_reply_depth`.
[[nodiscard]] std::string plain_text(std::string_view replies);

inline constexpr unsigned max_reply_depth = 32;

}  // namespace strata::proto
