// A text that the user edits in an editor of their choice, in a file that no other user can read or
// guess.
#pragma once

#include <string>

#include "cli/line/outcome.hpp"
#include "options/locations.hpp"

namespace strata::cli {

/// One at a time. The file is removed with the object, and when SIGINT, SIGTERM or SIGHUP ends the
/// process: `make` installs handlers for these signals.
class draft {
 public:
  /// Makes a file in a folder of our own: below XDG_RUNTIME_DIR if that is ours, otherwise below
  /// the daemon's state folder. Errors: failed, if there is no such folder, or no room in it.
  [[nodiscard]] static outcome<draft> make(const options::path_environment& environment,
                                           std::string_view text);
  draft(draft&& draft) noexcept : path_(std::move(draft.path_)) { draft.path_.clear(); }
  draft(const draft&) = delete;
  draft& operator=(const draft&) = delete;
  ~draft();

  /// Runs $VISUAL, else $EDITOR, else `editor` or `vi`, and waits until it ends. Errors: failed, if
  /// it cannot be run or ends with an exit code other than 0.
  [[nodiscard]] outcome<> edit() const;

  /// Returns the file's present content. Errors: failed, if it is gone, or longer than 16 MiB.
  [[nodiscard]] outcome<std::string> read() const;

 private:
  explicit draft(std::string path) : path_(std::move(path)) {}

  std::string path_;
};

}  // namespace strata::cli
