// A file that is written from its beginning, on a loop.
#pragma once

#include <string>
#include <string_view>

#include "loop/loop.hpp"
#include "loop/task.hpp"

namespace strata::runtime::cache {

class growing_file {
 public:
  /// Begins with nothing: a file that is there is removed. Errors: of the file system.
  [[nodiscard]] static result<growing_file> create(loop::loop& loop, std::string path);
  /// Goes on behind what is there.
  [[nodiscard]] static result<growing_file> reopen(loop::loop& loop, std::string path);

  /// Awaits that the kernel has taken all of `bytes`, which must stay until then. Errors: no_space
  /// and others of the file system; a part may have been written.
  [[nodiscard]] loop::task<result<void>> append(std::string_view bytes);
  /// Awaits that all of it is on the disk.
  [[nodiscard]] loop::task<result<void>> sync();
  /// Syncs, and puts it in the place of `final_path`. After an error `path()` tells whether it is
  /// there already, if not for certain.
  [[nodiscard]] loop::task<result<void>> finish(const std::string& final_path);

  [[nodiscard]] const std::string& path() const { return path_; }
  /// Bytes appended through this object.
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
