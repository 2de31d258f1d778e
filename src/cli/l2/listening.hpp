// When a verb that waits for frames ends: after a count, a silence, or Ctrl-C.
#pragma once

#include <chrono>
#include <cstdint>

#include "cli/line/command_line.hpp"
#include "cli/terminal/interrupt.hpp"

namespace strata::cli {

struct listening {
  std::uint64_t most;  ///< number of frames
  std::uint64_t taken = 0;

  /// From the flags `count` and `timeout`.
  explicit listening(const invocation& call)
      : most(call.flags.value("count", std::uint64_t{UINT64_MAX})),
        ends_by_silence_(call.flags.contains("timeout")),
        longest_silence_(call.flags.value("timeout", 0.0)) {}

  void note_frame() { last_frame_ = clock::now(); }
  [[nodiscard]] bool is_over() const {
    if (is_interrupted() || taken >= most) return true;
    return ends_by_silence_ && clock::now() - last_frame_ > longest_silence_;
  }
  /// A timeout without a single frame is a failure.
  [[nodiscard]] int end_code() const {
    return taken == 0 && ends_by_silence_ && !is_interrupted() ? exit_failed : exit_done;
  }

 private:
  using clock = std::chrono::steady_clock;

  bool ends_by_silence_;
  std::chrono::duration<double> longest_silence_;
  clock::time_point last_frame_ = clock::now();
};

}  // namespace strata::cli
