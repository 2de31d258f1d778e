// A terminal that shows one page, which is drawn over and over, and gives back what was there
// before when it goes: also when a signal ends the process.
#pragma once

#include <chrono>
#include <string_view>

#include "cli/line/outcome.hpp"

namespace strata::cli {

/// One at a time. Standard output is a terminal.
class live_screen {
 public:
  live_screen();
  live_screen(const live_screen&) = delete;
  live_screen& operator=(const live_screen&) = delete;
  ~live_screen();

  /// Shows these lines, as much of them as there is room for. They hold no control characters.
  void draw(std::string_view lines);
  /// Waits, and says whether `q` was pressed meanwhile.
  [[nodiscard]] bool is_quit_within(std::chrono::milliseconds time) const;

 private:
  bool has_keys_;  // standard input is a terminal
};

}  // namespace strata::cli
