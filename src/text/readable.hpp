// Text for people: readable sizes and times, and text that is safe for a terminal.
#pragma once

#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

namespace strata::text {

/// Formats a size: 1048576 is "1MiB", 1500 is "1.5KiB". The result can be typed as input.
[[nodiscard]] std::string format_size(double bytes);

/// Formats a duration: 0.25 is "250ms", 65 is "1m05s", 90000 is "1d01h".
[[nodiscard]] std::string format_duration(double seconds);

/// Returns `text` with control characters and bytes that are not UTF-8 written as `\n` or `\x1b`,
/// and characters that change the direction of writing as `\u{202e}`: text from strangers must not
/// move the reader's cursor, nor look like something else. Tabs are kept.
[[nodiscard]] std::string printable(std::string_view text);

/// Returns JSON with characters of its strings that a terminal obeys, or that change the direction
/// of writing, as `\u202e`: the same values, safe to display.
[[nodiscard]] std::string escaped_for_json(std::string_view json);

/// Returns how many terminal columns the text takes, provided that no character takes two.
[[nodiscard]] std::size_t width_of(std::string_view text);

/// Returns `text`, or as much of it as fits into `width` columns with "…" at its end.
[[nodiscard]] std::string shortened(std::string_view text, std::size_t width);

/// Splits text that arrives in pieces into lines.
class line_splitter {
 public:
  /// Returns the lines that `piece` completes, without their `\n`.
  [[nodiscard]] std::vector<std::string> feed(std::string_view piece);
  /// Returns the text after the last `\n` as a line, unless it is empty; call it when nothing more
  /// arrives.
  [[nodiscard]] std::vector<std::string> finish();
  /// The number of bytes that wait for their `\n`.
  [[nodiscard]] std::size_t unfinished() const { return rest_.size(); }

 private:
  std::string rest_;
};

}  // namespace strata::text
