// Foreign text for a terminal, without anything that the terminal would interpret.
#pragma once

#include <string>
#include <string_view>

namespace strata::cli {

class terminal_text {
 public:
  /// Returns the piece as it is to be shown: as `text::printable`, but line ends (LF and CR LF)
  /// stay. Valid until the next call. A character that is cut by the piece's end is kept for the
  /// next call.
  [[nodiscard]] std::string_view feed(std::string_view piece);
  /// Returns what was kept.
  [[nodiscard]] std::string_view finish();

 private:
  std::string kept_;
  std::string shown_;
};

}  // namespace strata::cli
