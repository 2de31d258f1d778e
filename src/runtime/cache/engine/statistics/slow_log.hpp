// SLOWLOG: the commands that took longest to execute.
#pragma once

#include <cstdint>
#include <deque>
#include <span>
#include <string>
#include <string_view>
#include <vector>

namespace strata::runtime::cache {

class slow_log {
 public:
  struct line {
    std::uint64_t id;
    std::int64_t time_s;
    std::int64_t us;
    std::vector<std::string> words;
    std::string address;
    std::string name;
  };

  /// Adds a line, and keeps at most `most` lines, the newest.
  void add(std::int64_t time_s, std::int64_t us, std::span<const std::string_view> words,
           std::string address, std::string name, std::size_t most);
  [[nodiscard]] const std::deque<line>& lines() const { return lines_; }  // newest first
  void clear() { lines_.clear(); }

 private:
  std::deque<line> lines_;
  std::uint64_t next_id_ = 0;
};

}  // namespace strata::runtime::cache
