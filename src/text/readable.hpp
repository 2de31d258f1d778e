// Text for people: sizes and times that can be read, and letters that cannot harm a terminal.
#pragma once

#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

namespace strata::text {

/// 1048576 is "1MiB", 1500 is "1.5KiB": as one may type it again.
[[nodiscard]] std::string format_size(double bytes);

/// 0.25 is "250ms", 65 is "1m05s", 90000 is "1d01h".
[[nodiscard]] std::string format_duration(double seconds);

/// `text` with control characters and bytes that are no UTF-8 written as `\n` or `\x1b`, and those
/// that turn the direction of writing as `\u{202e}`: what strangers send must not move the cursor
/// of the one who reads it, nor look like something else. A tab stays.
[[nodiscard]] std::string printable(std::string_view text);

/// JSON with the letters of its strings that a terminal obeys, or that turn the direction of
/// writing, as `\u202e`: the same values, shown without harm.
[[nodiscard]] std::string escaped_for_json(std::string_view json);

/// How many columns of a terminal the text takes, as long as no letter takes two.
[[nodiscard]] std::size_t width_of(std::string_view text);

/// `text`, or as much of it as fits into `width` columns with "…" at its end.
[[nodiscard]] std::string shortened(std::string_view text, std::size_t width);

/// Cuts what comes in pieces into lines.
class line_splitter {
 public:
  /// The lines that `piece` completes, without their `\n`.
  [[nodiscard]] std::vector<std::string> feed(std::string_view piece);
  /// What came behind the last `\n`, once nothing more comes: a line too, unless it is empty.
  [[nodiscard]] std::vector<std::string> finish();
  /// How many bytes wait for their `\n`.
  [[nodiscard]] std::size_t unfinished() const { return rest_.size(); }

 private:
  std::string rest_;
};

}  // namespace strata::text
