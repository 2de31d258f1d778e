// The file that keeps the output of a program's instance, beside the log in memory. At a size FILE
// becomes FILE.1, the earlier FILE.1 becomes FILE.2, and the oldest is removed.
//
// For one loop's thread.
#pragma once

#include <cstdint>
#include <functional>
#include <memory>
#include <string>
#include <string_view>

#include "loop/task.hpp"
#include "runtime/file_sink.hpp"

namespace strata::runtime::program {

class output_file {
 public:
  struct settings {
    std::string path;
    std::uint64_t max_size = 0;  ///< bytes
    std::uint64_t keep = 0;      ///< older files that stay
  };

  /// Opens the file for appending. `on_error` is called with a sentence when it cannot be written.
  /// Errors: those of the file.
  [[nodiscard]] static result<std::unique_ptr<output_file>> open(
      loop::loop& loop, settings settings, std::function<void(std::string)> on_error);

  /// Waits until the file has what was written, and begins the next one unless `size` bytes more
  /// fit. If the file cannot be written, does not wait for it.
  [[nodiscard]] loop::task<> make_room(std::size_t size);
  /// Appends a line, without its end.
  void write(std::string_view line);
  /// Waits until the file has what was written: until `limit`, or until it cannot be written.
  [[nodiscard]] loop::task<> flush(loop::time_point limit);

 private:
  output_file(settings settings, std::function<void(std::string)> on_error)
      : settings_(std::move(settings)), on_error_(std::move(on_error)) {}
  void rotate();

  settings settings_;
  std::function<void(std::string)> on_error_;
  std::unique_ptr<file_sink> sink_;
  std::uint64_t size_ = 0;  // with what is still to be written
  bool is_losing_ = false;
};

}  // namespace strata::runtime::program
