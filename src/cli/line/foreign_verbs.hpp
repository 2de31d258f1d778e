// Verbs of the daemon that strata's command line comes from, where they are called otherwise.
#pragma once

#include <optional>
#include <string_view>

namespace strata::cli {

/// Returns what to write instead of `verb`. Nullopt: it is none of those.
[[nodiscard]] std::optional<std::string_view> counterpart_of_verb(std::string_view verb);

/// Returns what to write instead of `verb` with more words than it takes here. Nullopt: it takes no
/// more there either.
[[nodiscard]] std::optional<std::string_view> counterpart_of_words(std::string_view verb);

}  // namespace strata::cli
