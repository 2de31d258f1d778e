// Flags of programs that people know, and what they are called here.
#pragma once

#include <optional>
#include <string_view>

namespace strata::cli {

/// Returns what to write instead of `flag`, as `--balance` or as a sentence's end. `type` is the
/// runtime's type, or empty. Nullopt: no program that we know has the flag.
[[nodiscard]] std::optional<std::string_view> counterpart_of(std::string_view flag,
                                                             std::string_view type);

}  // namespace strata::cli
