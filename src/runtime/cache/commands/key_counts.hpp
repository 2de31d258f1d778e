// Words of commands that say first how many keys follow, and perhaps how much is wanted of them.
#pragma once

#include <cstdint>
#include <optional>
#include <string_view>

namespace strata::runtime::cache {

class call;

/// The number of keys at word `index`, which follow it. Nothing after an error: `too_many` where
/// there are fewer words.
[[nodiscard]] std::optional<std::size_t> read_key_count(call& c, std::size_t index,
                                                        std::string_view too_many);
/// "LIMIT n" from word `first` on, or 0. Nothing after an error.
[[nodiscard]] std::optional<std::int64_t> read_limit(call& c, std::size_t first);

}  // namespace strata::runtime::cache
