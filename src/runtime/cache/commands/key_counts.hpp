// Parses words of commands that give the number of following keys, and a limit.
#pragma once

#include <cstdint>
#include <optional>
#include <string_view>

namespace strata::runtime::cache {

class call;

/// Reads the number of keys at word `index`, which precedes them. Returns nullopt after an error:
/// `too_many` if there are fewer words.
[[nodiscard]] std::optional<std::size_t> read_key_count(call& c, std::size_t index,
                                                        std::string_view too_many);
/// Reads "LIMIT n" from word `first` on; 0 if there is none. Returns nullopt after an error.
[[nodiscard]] std::optional<std::int64_t> read_limit(call& c, std::size_t first);

}  // namespace strata::runtime::cache
