// Files that a runtime keeps: what is asked of them by name, beside the appending and syncing that
// go through the loop. Each call answers at once; none is for the way of every message.
#pragma once

#include <memory>
#include <string>
#include <string_view>

#include "strata/base/result.hpp"

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

class file_store {
 public:
  /// Errors: not_found when there is no such file.
  virtual result<std::unique_ptr<file_view>> open(const std::string& path) = 0;
  [[nodiscard]] virtual bool exists(const std::string& path) = 0;
  /// Cuts the file down to its first `size` bytes, on the disk too.
  virtual result<void> truncate(const std::string& path, std::uint64_t size) = 0;
  /// Gives a file another name, in the same folder, in place of what had it.
  virtual result<void> rename(const std::string& from, const std::string& to) = 0;
  /// Sees to it that a file made or renamed there survives a crash of the machine under its name.
  virtual result<void> sync_folder_of(const std::string& path) = 0;
  /// No error when there is none.
  virtual result<void> remove(const std::string& path) = 0;

 protected:
  ~file_store() = default;
};

/// The kernel's. Lives as long as the process; for any thread.
[[nodiscard]] file_store& os_files();

}  // namespace strata::loop
