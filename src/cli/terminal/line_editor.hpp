// Line editing at a terminal (libedit), with a persistent history.
#pragma once

#include <functional>
#include <memory>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

namespace strata::cli {

/// Another source that is read while the user types.
struct side_channel {
  int fd = -1;
  /// Called when `fd` is readable; returns what to show above the line. Nullopt: the source has
  /// ended, and so does the reading.
  std::function<std::optional<std::string>()> receive;
};
using side_channels = std::vector<side_channel>;

/// The possible first words that begin with `begun`.
using word_finder = std::function<std::vector<std::string>(std::string_view begun)>;

/// One at a time: it controls the terminal while it reads, and restores it before it returns, or
/// when a signal ends the program.
class line_editor {
 public:
  /// Reads `history_file` now; there is no history if the file cannot be created, or others may
  /// write to its folder.
  explicit line_editor(std::string history_file);
  ~line_editor();
  line_editor(const line_editor&) = delete;
  line_editor& operator=(const line_editor&) = delete;

  /// Tab completes the first word, and shows the choices.
  void complete_with(word_finder words);
  /// Reads the next line, without its line end. Nullopt at the end of the input, or of a side
  /// channel.
  [[nodiscard]] std::optional<std::string> read(std::string prompt, const side_channels& channels);
  /// Adds a line to the history and its file.
  void remember(const std::string& line);

 private:
  struct state;
  std::unique_ptr<state> state_;
};

}  // namespace strata::cli
