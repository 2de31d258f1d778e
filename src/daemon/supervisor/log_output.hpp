// Where the daemon's log goes: standard error, or a file that is cut into pieces. Each line begins
// with its time, in UTC, as RFC 3339 has it.
//
// From any thread. Nothing here waits for a reader: what a pipe or a terminal does not take at once
// is left out, and counted in the next line that it takes.
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
  std::uint64_t max_size = 0;  ///< bytes, after which a new file is begun; 0: never
  std::uint64_t keep = 0;      ///< older files that stay, as FILE.1 (the newest), FILE.2, …
  bool is_json = false;        ///< each line is a JSON object: time, level, runtime, text
};

class log_output {
 public:
  /// Errors: those of opening the file; conflict when another writes it.
  [[nodiscard]] static result<std::shared_ptr<log_output>> open(log_settings settings);

  /// A line without its line feed. What is in it is cleaned of control characters. `runtime`: whose
  /// line it is; empty: the daemon's own.
  void write(std::string_view level, std::string_view runtime, std::string_view text);
  /// Opens the file by its name again: others may have renamed it. Errors: as of `open`; then it
  /// goes on in the file that it has.
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
  std::uint64_t lost_ = 0;  // lines that nobody read
  bool is_cut_ = false;     // the last line has no end: the disk was full
};

}  // namespace strata::daemon
