// The word that a mistyped one was probably meant to be, and all that it could have been.
#pragma once

#include <cstddef>
#include <optional>
#include <span>
#include <string>
#include <string_view>

namespace strata::text {

/// Letters to insert, delete, replace or swap with their neighbour to make `text` into
/// `destination`.
[[nodiscard]] std::size_t edit_distance(std::string_view text, std::string_view destination);

/// The candidate with the least distance to `word`, if it is near enough to be meant; else the only
/// one that begins as it does.
[[nodiscard]] std::optional<std::string> nearest(std::string_view word,
                                                 std::span<const std::string> candidates);

/// " (did you mean 'WORD'?)", or nothing.
[[nodiscard]] std::string did_you_mean(std::string_view word,
                                       std::span<const std::string> candidates);

/// "a, b, c" of names that can be printed, cut where it is long.
[[nodiscard]] std::string names_listed(std::span<const std::string> names);

}  // namespace strata::text
