// Lines typed at a terminal, edited as they are typed (libedit), with a history that is kept.
#pragma once

#include <functional>
#include <memory>
#include <optional>
#include <string>

namespace strata::cli {

/// Another source that is listened to while somebody types.
struct side_channel {
  int fd = -1;
  /// Called when `fd` can be read: what to show above the line. Nothing: it has ended, and so does
  /// the reading.
  std::function<std::optional<std::string>()> hear;
};

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

  /// The next line, without its line end. Nothing at the end of input, or of the side channel.
  [[nodiscard]] std::optional<std::string> read(std::string prompt, side_channel& beside);
  /// Puts a line into the history, and that into its file.
  void remember(const std::string& line);

 private:
  struct state;
  std::unique_ptr<state> state_;
};

}  // namespace strata::cli
