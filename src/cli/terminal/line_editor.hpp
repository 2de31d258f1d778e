// Lines typed at a terminal, edited as they are typed (libedit), with a history that is kept.
#pragma once

#include <functional>
#include <memory>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

namespace strata::cli {

/// Another source that is heard while somebody types.
struct side_channel {
  int fd = -1;
  /// Called when `fd` can be read: what to show above the line. Nothing: it has ended, and so does
  /// the reading.
  std::function<std::optional<std::string>()> hear;
};
using side_channels = std::vector<side_channel>;

/// The words that the line's first one, of which `begun` has been typed, may become.
using word_finder = std::function<std::vector<std::string>(std::string_view begun)>;

/// One at a time: it has the terminal while it reads, and gives it back before it returns, or when
/// a signal ends the program.
class line_editor {
 public:
  /// `history_file` is read now; where it cannot be made, or others may write to its
  /// folder, there is none.
  explicit line_editor(std::string history_file);
  ~line_editor();
  line_editor(const line_editor&) = delete;
  line_editor& operator=(const line_editor&) = delete;

  /// Tab completes the first word, and shows what there is to choose from.
  void complete_with(word_finder words);
  /// The next line, without its line end. Nothing at the end of input, or of a side channel.
  [[nodiscard]] std::optional<std::string> read(std::string prompt, const side_channels& channels);
  /// Puts a line into the history, and that into its file.
  void remember(const std::string& line);

 private:
  struct state;
  std::unique_ptr<state> state_;
};

}  // namespace strata::cli
