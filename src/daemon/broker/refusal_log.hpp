// Logs refusals, of which a user can cause any number: a few per user are written, the rest is
// counted.
#pragma once

#include <chrono>
#include <cstdint>
#include <map>
#include <string>
#include <vector>

namespace strata::daemon {

class refusal_log {
 public:
  using clock = std::chrono::steady_clock;
  static constexpr unsigned most_lines = 10;  ///< lines of a user in a `window`
  static constexpr std::chrono::seconds window{60};

  /// Returns the lines to write when a request of `user` was refused for `text`: `text`, unless
  /// there were too many, and the number of lines left out in the previous window.
  [[nodiscard]] std::vector<std::string> lines_for(std::uint32_t user, const std::string& text,
                                                   clock::time_point now);

 private:
  struct recent {
    clock::time_point began;
    unsigned written = 0;
    std::uint64_t left_out = 0;
  };
  std::map<std::uint32_t, recent> users_;
};

}  // namespace strata::daemon
