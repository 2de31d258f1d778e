// The daemon's log output: standard error, or a rotated file. Each line begins with its time in
// UTC, in RFC 3339 format.
//
// From any thread. Nothing here waits for a reader: what a pipe or a terminal does not take at once
// is dropped, and counted in the next line that it takes.
#pragma once

#include <spdlog/common.h>

#include <cstdint>
#include <memory>
#include <mutex>
#include <string>
#include <string_view>

#include "loop/file_store.hpp"
#include "runtime/journal.hpp"
#include "strata/base/result.hpp"
#include "strata/base/unique_fd.hpp"

namespace strata::daemon {

[[nodiscard]] spdlog::level::level_enum log_level(runtime::level severity);

struct log_settings {
  std::string file;            ///< empty: standard error
  std::uint64_t max_size = 0;  ///< bytes after which a new file is begun; 0: never
  std::uint64_t keep = 0;      ///< older files kept, as FILE.1 (the newest), FILE.2, …
  bool is_json = false;        ///< each line is a JSON object: time, level, runtime, text
};

class log_output {
 public:
  /// Errors: those of opening the file; conflict if another process writes it.
  [[nodiscard]] static result<std::shared_ptr<log_output>> open(log_settings settings);

  /// Writes a line, given without its line feed. Control characters in it are replaced. `runtime`:
  /// the runtime of the line; empty: the daemon itself.
  void write(std::string_view level, std::string_view runtime, std::string_view text);
  /// Opens the file by its name again, in case it was renamed. Errors: as of `open`; then writing
  /// goes on in the present file.
  result<void> open_again();

 private:
  explicit log_output(log_settings settings) : how_(std::move(settings)) {}
  [[nodiscard]] std::string line_of(std::string_view level, std::string_view runtime,
                                    std::string_view text) const;
  result<void> open_file();
  [[nodiscard]] bool is_open_by_name() const;
  void rotate();
  [[nodiscard]] bool put(std::string_view text);

  const log_settings how_;
  std::mutex lock_;
  loop::file_claim claim_;
  unique_fd file_;
  std::uint64_t size_ = 0;
  std::uint64_t lost_ = 0;  // dropped lines
  bool is_cut_ = false;     // the last line is incomplete: the disk was full
};

}  // namespace strata::daemon
