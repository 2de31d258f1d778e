// The runtimes' configurations on disk: one JSON file each, written so that a crash at any moment
// leaves the old file or the new one, and nothing that was acknowledged is lost.
//
//   STATE_DIR/lock              held by the daemon that uses the folder
//   STATE_DIR/runtimes/NAME.json
//   STATE_DIR/tmp/              files being written
//   STATE_DIR/damaged/          files that could not be read, set aside
#pragma once

#include <functional>
#include <string>
#include <string_view>
#include <vector>

#include "strata/base/result.hpp"
#include "strata/base/unique_fd.hpp"

namespace strata::daemon {

struct saved_runtime {
  std::string name;
  std::string type;
  std::string created_at;
  bool running = false;
  std::string options;  ///< a JSON object, secrets included
};

class state_store {
 public:
  /// Makes the folders (mode 0700) and takes the lock. From then on names are looked up in the
  /// folders that were opened here, and no link is followed. Errors: conflict when another daemon
  /// has it, with that one's process id; permission_denied when another user made the folder, or
  /// something in it, or can write there.
  static result<state_store> open(const std::string& folder);

  /// All that is saved, by name. A file that is damaged is set aside, and `on_damaged` is told.
  [[nodiscard]] std::vector<saved_runtime> load(
      const std::function<void(std::string)>& on_damaged) const;
  /// Returns when the file and its folder are on disk (mode 0600). Errors: no_space, …
  [[nodiscard]] result<void> save(const saved_runtime& what) const;
  [[nodiscard]] result<void> remove(const std::string& name) const;

  [[nodiscard]] const std::string& folder() const { return folder_; }

 private:
  /// Folders within it, opened.
  struct parts {
    unique_fd runtimes;
    unique_fd temporary;
    unique_fd damaged;
  };
  state_store(std::string folder, unique_fd lock, parts within)
      : folder_(std::move(folder)), lock_(std::move(lock)), within_(std::move(within)) {}
  [[nodiscard]] std::string path_of(const std::string& file) const {
    return folder_ + "/runtimes/" + file;
  }
  [[nodiscard]] result<saved_runtime> read(const std::string& file) const;

  std::string folder_;
  unique_fd lock_;
  parts within_;
};

/// [a-zA-Z0-9_.-]{1,64}.
[[nodiscard]] bool is_valid_name(std::string_view name);

}  // namespace strata::daemon
