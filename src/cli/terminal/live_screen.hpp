// A terminal that shows one page, redrawn repeatedly, and restores its previous content at the end:
// also when a signal ends the process.
#pragma once

#include <chrono>
#include <string_view>

#include "cli/line/outcome.hpp"

namespace strata::cli {

/// One at a time. Standard output must be a terminal.
class live_screen {
 public:
  live_screen();
  live_screen(const live_screen&) = delete;
  live_screen& operator=(const live_screen&) = delete;
  ~live_screen();

  /// Shows as many of these lines as fit. They contain no control characters.
  void draw(std::string_view lines);
  /// Waits, and reports whether `q` was pressed meanwhile.
  [[nodiscard]] bool is_quit_within(std::chrono::milliseconds time) const;

 private:
  bool has_keys_;  // standard input is a terminal
};

}  // namespace strata::cli
