// Files that a runtime keeps: operations by name. Appending and syncing go through the loop. Each
// call completes at once; none is for the path of every message.
#pragma once

#include <fcntl.h>

#include <cstdint>
#include <memory>
#include <string>
#include <string_view>

#include "strata/base/result.hpp"
#include "strata/base/unique_fd.hpp"

namespace strata::loop {

/// A file's bytes as they were when it was opened, as long as this lives. Bytes appended later are
/// not visible; bytes that are truncated meanwhile must not be read.
class file_view {
 public:
  file_view() = default;
  file_view(const file_view&) = delete;
  file_view& operator=(const file_view&) = delete;
  virtual ~file_view() = default;

  [[nodiscard]] virtual std::string_view bytes() const = 0;
};

/// The right to be the only writer of a file, as long as it lives. On a file system without locks,
/// such as the simulation's, it does not exclude other writers.
class file_claim {
 public:
  file_claim() = default;
  explicit file_claim(unique_fd locked) : locked_(std::move(locked)) {}

 private:
  unique_fd locked_;
};

class file_store {
 public:
  /// Creates `path` (mode 0600) if it is missing, and claims the file under all its names. Never
  /// waits. Errors: conflict if the file is already claimed, by this process or another;
  /// invalid_argument if it is not a regular file.
  virtual result<file_claim> claim(const std::string& /*path*/) { return file_claim{}; }
  /// Opens a file for reading. Errors: not_found if there is no such file; invalid_argument if it
  /// is not a regular file.
  virtual result<std::unique_ptr<file_view>> open(const std::string& path) = 0;
  [[nodiscard]] virtual bool exists(const std::string& path) = 0;
  /// Truncates the file to its first `size` bytes, on the disk too.
  virtual result<void> truncate(const std::string& path, std::uint64_t size) = 0;
  /// Renames a file within its folder, replacing any file that has the new name.
  virtual result<void> rename(const std::string& text, const std::string& destination) = 0;
  /// Ensures that a file created or renamed in the folder of `path` keeps its name after a machine
  /// crash.
  virtual result<void> sync_folder_of(const std::string& path) = 0;
  /// Removes a file; no error if there is none.
  virtual result<void> remove(const std::string& path) = 0;

 protected:
  ~file_store() = default;
};

/// Opens a regular file, which `flags` may create (mode 0600), without ever waiting; rejects a
/// FIFO, a device or a folder. Errors: invalid_argument for those; those of the system.
[[nodiscard]] result<unique_fd> open_regular(const std::string& path, int flags,
                                             const std::string& operation);

/// Flags for `open_beneath`. Without O_NONBLOCK, opening a FIFO would block the loop until a writer
/// opens it.
inline constexpr std::uint64_t for_reading = O_RDONLY | O_NONBLOCK | O_CLOEXEC | O_NOCTTY;
/// Opens a file in a folder or below it (openat2(2), RESOLVE_BENEATH): nothing outside, whatever
/// the path or a link refers to. An empty path is the folder itself. Returns a descriptor, or -1
/// with errno: EXDEV if the path leads out, ENOSYS or EPERM if openat2 is forbidden.
[[nodiscard]] int open_beneath(int folder, std::string_view relative, std::uint64_t flags,
                               std::uint64_t more_resolve = 0);

/// Returns the kernel's file store. Lives as long as the process; for any thread.
[[nodiscard]] file_store& os_files();

}  // namespace strata::loop
