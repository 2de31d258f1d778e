// A runtime's access log, with a line for each HTTP request. Each loop has its own object; all
// append to the same file.
#pragma once

#include <functional>
#include <memory>
#include <string>

#include "http/access_format.hpp"
#include "runtime/file_sink.hpp"

namespace strata::runtime {

class access_log {
 public:
  /// `format` parses. `on_error` is called if the file cannot be written. Errors: those of the
  /// file.
  [[nodiscard]] static result<std::unique_ptr<access_log>> open(
      loop::loop& loop, const std::string& path, const std::string& format,
      std::function<void(std::string)> on_error);

  /// Returns false if too much is queued: the line is lost.
  [[nodiscard]] bool write(const http::access& access) {
    return sink_->append(as_bytes(format_.line(access)));
  }
  [[nodiscard]] result<void> open_again() { return sink_->open_again(); }
  /// Waits, until `limit` at most, until everything is written or writing fails.
  auto flushed(loop::time_point limit) { return sink_->flushed(limit); }

 private:
  access_log(http::access_format format, std::unique_ptr<file_sink> sink)
      : format_(std::move(format)), sink_(std::move(sink)) {}

  http::access_format format_;
  std::unique_ptr<file_sink> sink_;
};

}  // namespace strata::runtime
