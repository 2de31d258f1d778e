#include "text/nearest.hpp"

#include <algorithm>
#include <utility>
#include <vector>

#include "text/readable.hpp"

namespace strata::text {

std::size_t edit_distance(std::string_view text, std::string_view destination) {
  // Optimal string alignment: three rows of the table of distances between prefixes.
  std::vector<std::size_t> before_last;
  std::vector<std::size_t> last(destination.size() + 1);
  for (std::size_t j = 0; j <= destination.size(); ++j) last[j] = j;
  for (std::size_t i = 1; i <= text.size(); ++i) {
    std::vector<std::size_t> row(destination.size() + 1, i);
    for (std::size_t j = 1; j <= destination.size(); ++j) {
      const std::size_t replace = text[i - 1] == destination[j - 1] ? 0 : 1;
      row[j] = std::min({last[j] + 1, row[j - 1] + 1, last[j - 1] + replace});
      const bool swapped =
          i > 1 && j > 1 && text[i - 1] == destination[j - 2] && text[i - 2] == destination[j - 1];
      if (swapped) row[j] = std::min(row[j], before_last[j - 2] + 1);
    }
    before_last = std::exchange(last, std::move(row));
  }
  return last[destination.size()];
}

namespace {

std::size_t letters_in(std::string_view text) {
  return static_cast<std::size_t>(
      std::ranges::count_if(text, [](char letter) { return letter != '-'; }));
}

bool begin_alike(std::string_view word, std::string_view candidate, std::size_t letters) {
  const auto same = std::ranges::mismatch(word, candidate).in1 - word.begin();
  return letters_in(word.substr(0, static_cast<std::size_t>(same))) >= letters;
}

/// Returns the only candidate that begins like the word, with a longer word in the place of the
/// word's end, whose last letter may differ: `--max-conn` is `--max-connections`, and `--retry` is
/// `--retries`.
std::optional<std::string> sole_continuation(std::string_view word,
                                             std::span<const std::string> candidates) {
  const auto letters = letters_in(word);
  for (const std::size_t slip : {0U, 1U}) {
    if (letters < 3 + 2 * slip) break;
    const auto is_alike = [&](const std::string& candidate) {
      return begin_alike(word, candidate, letters - slip);
    };
    const auto first = std::ranges::find_if(candidates, is_alike);
    if (first == candidates.end()) continue;
    if (std::any_of(first + 1, candidates.end(), is_alike)) break;
    return *first;
  }
  return std::nullopt;
}

}  // namespace

std::optional<std::string> nearest(std::string_view word, std::span<const std::string> candidates) {
  constexpr std::size_t longest_word = 64;  // a longer word is no mistyped name
  if (word.size() > longest_word) return std::nullopt;
  std::optional<std::string> best;
  // Allows one error in a word of up to five letters, and one more for each three letters beyond.
  std::size_t least = std::max<std::size_t>(1, letters_in(word) / 3);
  for (const auto& candidate : candidates) {
    const auto distance = edit_distance(word, candidate);
    if (distance > least || (best && distance == least)) continue;
    least = distance;
    best = candidate;
  }
  return best ? best : sole_continuation(word, candidates);
}

std::string did_you_mean(std::string_view word, std::span<const std::string> candidates) {
  const auto best = nearest(word, candidates);
  return best ? " (did you mean '" + *best + "'?)" : std::string{};
}

std::string names_listed(std::span<const std::string> names) {
  constexpr std::size_t longest = 1000;
  std::string text;
  for (const auto& each : names) {
    if (text.size() > longest) return text + ", …";
    text += (text.empty() ? "" : ", ") + printable(each);
  }
  return text;
}

}  // namespace strata::text
