// Redis's glob patterns: * ? [a-z] [^a] \x.
#pragma once

#include <string_view>

namespace strata::text {

/// Takes time proportional to the pattern's size times the text's, whatever the pattern.
[[nodiscard]] bool matches_pattern(std::string_view pattern, std::string_view text,
                                   bool ignore_case = false);

}  // namespace strata::text
