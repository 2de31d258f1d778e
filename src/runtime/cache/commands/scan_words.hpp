// The common words of SCAN, SSCAN, HSCAN and ZSCAN: a cursor, MATCH, COUNT, TYPE; and their reply.
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

/// Reads only the cursor. Replies with an error and returns nullopt if it is invalid.
[[nodiscard]] std::optional<std::uint64_t> read_scan_cursor(call& c, std::size_t index);
/// Reads all words; the cursor is at `index`. Replies with an error and returns nullopt if they are
/// wrong.
[[nodiscard]] std::optional<scan_words> read_scan_words(call& c, std::size_t index,
                                                        bool takes_type = false);
/// Scans from the cursor on until enough elements were seen: `step(cursor, seen)` adds to `seen`
/// and returns the next cursor, as this does. Empty buckets cost time too: at most ten buckets are
/// scanned per requested element.
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
/// Writes the beginning of the reply: the next cursor, and how many elements follow.
void reply_scan(call& c, std::uint64_t cursor, std::size_t count);

}  // namespace strata::runtime::cache
