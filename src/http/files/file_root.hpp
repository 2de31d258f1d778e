// The folder whose files are served. Nothing outside it can be opened through it, whatever a path
// or a symbolic link contains.
#pragma once

#include <cstdint>
#include <expected>
#include <string>
#include <string_view>

#include "strata/base/result.hpp"
#include "strata/base/unique_fd.hpp"

namespace strata::http {

/// Identifies a file's contents. Equal versions mean equal bytes, unless the file was changed twice
/// within one tick of the kernel's clock.
struct file_version {
  std::uint64_t device = 0;
  std::uint64_t inode = 0;
  std::uint64_t size = 0;
  std::int64_t modified_ns = 0;

  bool operator==(const file_version&) const = default;
  [[nodiscard]] std::int64_t modified_s() const { return modified_ns / 1'000'000'000; }
};

/// A regular file or a folder, open for reading.
struct opened_file {
  unique_fd fd;
  file_version version;
  bool is_folder = false;
};

class file_root {
 public:
  /// Opens the folder. `operation` follows "cannot" in errors. Errors: naming the folder, with
  /// `remedy`, if it is none or cannot be opened; not_supported if openat2 is forbidden.
  [[nodiscard]] static result<file_root> open(const std::string& folder,
                                              const std::string& operation,
                                              const std::string& remedy);

  /// Opens a path below the root; an empty path is the root itself. Never blocks, whatever the file
  /// is. Errors: an errno; ENOENT for anything but a file or a folder.
  [[nodiscard]] std::expected<opened_file, int> open_below(std::string_view relative) const;
  /// Opens the file at that path itself (O_PATH), without a symbolic link or another mount on the
  /// way; empty if there is one.
  [[nodiscard]] unique_fd open_itself(std::string_view relative) const;
  /// Whether the path is the only one of a regular file whose contents are still of that version.
  [[nodiscard]] bool is_itself(std::string_view relative, const file_version& version) const;

 private:
  explicit file_root(unique_fd folder) : folder_(std::move(folder)) {}

  unique_fd folder_;
};

/// The answer's status for a failed open: 403, 404 or 503.
[[nodiscard]] int status_of_open(int failed_with);

}  // namespace strata::http
