// Finds the word that a mistyped word was probably meant to be, and lists the possible ones.
#pragma once

#include <cstddef>
#include <optional>
#include <span>
#include <string>
#include <string_view>

namespace strata::text {

/// Returns how many letters to insert, delete, replace or swap with their neighbour to turn `text`
/// into `destination`.
[[nodiscard]] std::size_t edit_distance(std::string_view text, std::string_view destination);

/// Returns the candidate with the least distance to `word`, if it is near enough; otherwise the
/// only one that begins like it.
[[nodiscard]] std::optional<std::string> nearest(std::string_view word,
                                                 std::span<const std::string> candidates);

/// Returns " (did you mean 'WORD'?)", or an empty text.
[[nodiscard]] std::string did_you_mean(std::string_view word,
                                       std::span<const std::string> candidates);

/// Returns the printable names as "a, b, c", shortened if it is long.
[[nodiscard]] std::string names_listed(std::span<const std::string> names);

}  // namespace strata::text
