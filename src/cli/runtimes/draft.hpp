// A text that a person edits in an editor of their choice, in a file that nobody else can read or
// guess.
#pragma once

#include <string>

#include "cli/line/outcome.hpp"
#include "options/locations.hpp"

namespace strata::cli {

/// One at a time. The file is removed with the object, and when SIGINT, SIGTERM or SIGHUP ends the
/// process: from `make` on these signals do so.
class draft {
 public:
  /// A file in a folder of our own: below XDG_RUNTIME_DIR if that is ours, else below the folder
  /// of the daemon's state. Errors: failed, when there is no such folder, or no room in it.
  [[nodiscard]] static outcome<draft> make(const options::path_environment& environment,
                                           std::string_view text);
  draft(draft&& draft) noexcept : path_(std::move(draft.path_)) { draft.path_.clear(); }
  draft(const draft&) = delete;
  draft& operator=(const draft&) = delete;
  ~draft();

  /// Runs $VISUAL, else $EDITOR, else `editor` or `vi`, and waits until it ends. Errors: failed,
  /// when it cannot be run or ends with another exit code than 0.
  [[nodiscard]] outcome<> edit() const;

  /// What the file holds now. Errors: failed, when it is gone, or longer than 16 MiB.
  [[nodiscard]] outcome<std::string> read() const;

 private:
  explicit draft(std::string path) : path_(std::move(path)) {}

  std::string path_;
};

}  // namespace strata::cli
