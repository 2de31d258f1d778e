// Files that a runtime keeps: what is asked of them by name, beside the appending and syncing that
// go through the loop. Each call answers at once; none is for the way of every message.
#pragma once

#include <fcntl.h>

#include <cstdint>
#include <memory>
#include <string>
#include <string_view>

#include "strata/base/result.hpp"
#include "strata/base/unique_fd.hpp"

namespace strata::loop {

/// A file's bytes as they were when it was opened, for as long as this lives. What is appended
/// later does not show; whoever cuts the file shorter meanwhile must not look at the rest.
class file_view {
 public:
  file_view() = default;
  file_view(const file_view&) = delete;
  file_view& operator=(const file_view&) = delete;
  virtual ~file_view() = default;

  [[nodiscard]] virtual std::string_view bytes() const = 0;
};

/// The right to be the only writer of a file, for as long as it lives. Of a file system without
/// locks, as the simulation's is, it holds nobody off.
class file_claim {
 public:
  file_claim() = default;
  explicit file_claim(unique_fd locked) : locked_(std::move(locked)) {}

 private:
  unique_fd locked_;
};

class file_store {
 public:
  /// Makes `path` (mode 0600) when it is missing, and claims it, for whichever name it is known by.
  /// Never waits. Errors: conflict when it is claimed already, by this process or another;
  /// invalid_argument when it is no regular file.
  virtual result<file_claim> claim(const std::string& /*path*/) { return file_claim{}; }
  /// Errors: not_found when there is no such file; invalid_argument when it is no regular file.
  virtual result<std::unique_ptr<file_view>> open(const std::string& path) = 0;
  [[nodiscard]] virtual bool exists(const std::string& path) = 0;
  /// Cuts the file down to its first `size` bytes, on the disk too.
  virtual result<void> truncate(const std::string& path, std::uint64_t size) = 0;
  /// Gives a file another name, in the same folder, in place of what had it.
  virtual result<void> rename(const std::string& text, const std::string& destination) = 0;
  /// Sees to it that a file made or renamed there survives a crash of the machine under its name.
  virtual result<void> sync_folder_of(const std::string& path) = 0;
  /// No error when there is none.
  virtual result<void> remove(const std::string& path) = 0;

 protected:
  ~file_store() = default;
};

/// Opens a regular file, which `flags` may make (mode 0600), without ever waiting: a FIFO, a device
/// or a folder is refused. Errors: invalid_argument for those; those of the system.
[[nodiscard]] result<unique_fd> open_regular(const std::string& path, int flags,
                                             const std::string& operation);

/// As `open_beneath` takes it. Without O_NONBLOCK a FIFO would hold the loop until somebody writes.
inline constexpr std::uint64_t for_reading = O_RDONLY | O_NONBLOCK | O_CLOEXEC | O_NOCTTY;
/// Opens what lies in a folder or below (openat2(2), RESOLVE_BENEATH): nothing outside of it,
/// whatever the path or a link says. Empty is the folder itself. Gives a descriptor, or -1, errno:
/// EXDEV where the path leads out, ENOSYS or EPERM where openat2 is forbidden.
[[nodiscard]] int open_beneath(int folder, std::string_view relative, std::uint64_t flags,
                               std::uint64_t more_resolve = 0);

/// The kernel's. Lives as long as the process; for any thread.
[[nodiscard]] file_store& os_files();

}  // namespace strata::loop
