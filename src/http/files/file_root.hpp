// The folder whose files are served. Nothing outside it can be opened through it, whatever a path
// or a symbolic link says.
#pragma once

#include <cstdint>
#include <expected>
#include <string>
#include <string_view>

#include "strata/base/result.hpp"
#include "strata/base/unique_fd.hpp"

namespace strata::http {

/// Which contents a file has. Two that are equal are the same bytes, unless somebody has changed
/// them twice within one tick of the kernel's clock.
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
  /// `operation` follows "cannot". Errors: naming the folder when it is none, with `remedy`, or if
  /// it cannot be opened; not_supported where openat2 is forbidden.
  [[nodiscard]] static result<file_root> open(const std::string& folder,
                                              const std::string& operation,
                                              const std::string& remedy);

  /// Empty is the folder itself. Never waits, whatever lies there. Errors: an errno; ENOENT for
  /// what is neither a file nor a folder.
  [[nodiscard]] std::expected<opened_file, int> open_below(std::string_view relative) const;
  /// What lies at that path itself, without a symbolic link or another mount on the way, to look at
  /// (O_PATH); none when it is not so.
  [[nodiscard]] unique_fd open_itself(std::string_view relative) const;
  /// The path is a regular file's only one, and its contents are still of that version.
  [[nodiscard]] bool is_itself(std::string_view relative, const file_version& version) const;

 private:
  explicit file_root(unique_fd folder) : folder_(std::move(folder)) {}

  unique_fd folder_;
};

/// The answer's status for what could not be opened: 403, 404 or 503.
[[nodiscard]] int status_of_open(int failed_with);

}  // namespace strata::http
