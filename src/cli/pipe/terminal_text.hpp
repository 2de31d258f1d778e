// What comes from elsewhere, for a terminal: with nothing in it that the terminal would obey.
#pragma once

#include <string>
#include <string_view>

namespace strata::cli {

class terminal_text {
 public:
  /// The piece as it is to be shown: as `text::printable`, but line ends (LF and CR LF) stay. Valid
  /// until the next call. A letter that is cut by the piece's end is kept for the next one.
  [[nodiscard]] std::string_view feed(std::string_view piece);
  /// What was kept.
  [[nodiscard]] std::string_view finish();

 private:
  std::string kept_;
  std::string shown_;
};

}  // namespace strata::cli
