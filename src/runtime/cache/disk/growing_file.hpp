// A file that is written from its beginning on, on a loop.
#pragma once

#include <string>
#include <string_view>

#include "loop/loop.hpp"
#include "loop/task.hpp"

namespace strata::runtime::cache {

class growing_file {
 public:
  /// Creates an empty file, removing an existing one. Errors: those of the file system.
  [[nodiscard]] static result<growing_file> create(loop::loop& loop, std::string path);
  /// Appends to an existing file.
  [[nodiscard]] static result<growing_file> reopen(loop::loop& loop, std::string path);

  /// Waits until the kernel has accepted all of `bytes`, which must stay valid until then. Errors:
  /// no_space and others of the file system; a part may have been written.
  [[nodiscard]] loop::task<result<void>> append(std::string_view bytes);
  /// Waits until the whole file is on the disk.
  [[nodiscard]] loop::task<result<void>> sync();
  /// Syncs the file and renames it to `final_path`. After an error, `path()` shows whether it
  /// already has that name, though not necessarily safely.
  [[nodiscard]] loop::task<result<void>> finish(const std::string& final_path);

  [[nodiscard]] const std::string& path() const { return path_; }
  /// The number of bytes appended through this object.
  [[nodiscard]] std::uint64_t appended() const { return appended_; }

 private:
  growing_file(loop::loop& loop, loop::descriptor file, std::string path)
      : loop_(&loop), file_(std::move(file)), path_(std::move(path)) {}

  loop::loop* loop_;
  loop::descriptor file_;
  std::string path_;
  std::uint64_t appended_ = 0;
};

}  // namespace strata::runtime::cache
