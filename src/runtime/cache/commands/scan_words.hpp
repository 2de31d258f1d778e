// The words that SCAN, SSCAN, HSCAN and ZSCAN share: a cursor, MATCH, COUNT, TYPE; and their reply.
#pragma once

#include <algorithm>
#include <cstdint>
#include <optional>
#include <string_view>

#include "text/pattern.hpp"

namespace strata::runtime::cache {

class call;

struct scan_words {
  std::uint64_t cursor = 0;
  std::int64_t count = 10;
  std::optional<std::string_view> pattern;
  std::optional<std::string_view> type;  ///< SCAN only

  [[nodiscard]] bool matches(std::string_view text) const {
    return !pattern || text::matches_pattern(*pattern, text);
  }
};

/// The cursor alone. Nothing, and the error replied, when it is none.
[[nodiscard]] std::optional<std::uint64_t> read_scan_cursor(call& c, std::size_t index);
/// The cursor is the word at `index`. Nothing, and the error replied, when they are wrong.
[[nodiscard]] std::optional<scan_words> read_scan_words(call& c, std::size_t index,
                                                        bool takes_type = false);
/// Steps on from the cursor until as much was seen as is wanted: `step(cursor, seen)` adds to
/// `seen` and returns the next cursor, as this does. Empty buckets cost time too: no more of them
/// than ten for each element that is wanted.
template <class Step>
std::uint64_t scan_enough(const scan_words& words, Step&& step) {
  auto cursor = words.cursor;
  auto most_buckets = std::min(words.count, INT64_MAX / 10) * 10;
  std::int64_t seen = 0;
  do {
    cursor = step(cursor, seen);
  } while (cursor != 0 && --most_buckets > 0 && seen < words.count);
  return cursor;
}
/// The beginning of the reply: the next cursor, and how many elements follow.
void reply_scan(call& c, std::uint64_t cursor, std::size_t count);

}  // namespace strata::runtime::cache
