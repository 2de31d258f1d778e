// The last lines of a source, kept in memory, and their followers: a runtime's log, the daemon's
// events, the messages that a runtime receives.
//
// Any thread may write. A follower that falls behind loses lines, and a line in their place reports
// how many.
#pragma once

#include <chrono>
#include <deque>
#include <functional>
#include <map>
#include <memory>
#include <mutex>
#include <string>
#include <vector>

#include "loop/loop.hpp"
#include "runtime/followers.hpp"

namespace strata::runtime {

/// `debug` is for frequent events: such lines go to the copy alone, and are neither kept nor
/// followed.
enum class level : std::uint8_t { debug, info, warning, error };
[[nodiscard]] std::string_view name_of(level level);

struct journal_line {
  std::chrono::system_clock::time_point time;
  level severity = level::info;
  std::string subject;  ///< the source: a connection's id, a runtime's name; may be empty
  std::string text;
  /// Counts from 1 in the order of the journal; 0: not a line of the journal.
  std::uint64_t number = 0;
};

/// RFC 3339 in UTC with milliseconds: 2026-11-21T01:33:00.123Z.
[[nodiscard]] std::string format_time(std::chrono::system_clock::time_point time);

class journal {
 public:
  using sink = std::function<void(const journal_line&)>;

  explicit journal(std::size_t keep = 1000) : keep_(keep) {}
  journal(const journal&) = delete;
  journal& operator=(const journal&) = delete;

  /// Also passes each line to `copy`, on the writer's thread; for the daemon's own log.
  void set_copy(sink copy) { copy_ = std::move(copy); }

  void write(level severity, std::string text, std::string subject = {});
  /// As `write`, but the copy does not get it: for the output of programs.
  void keep(level severity, std::string text, std::string subject = {});
  /// As `write`, for lines that others can cause as often as they like: a few lines per `cause` are
  /// written in ten seconds, and the next line says how many were left out.
  void write_few(std::string_view cause, level severity, std::string text,
                 std::string subject = {});
  [[nodiscard]] std::vector<journal_line> last(std::size_t count) const;
  /// Identifies a line among all lines of all journals, those of an earlier process included.
  [[nodiscard]] std::string id_of(const journal_line& line) const;
  /// The number of the line with this id; 0 if it is not a line of this journal.
  [[nodiscard]] std::uint64_t number_of(std::string_view id) const;
  /// Nobody follows and nothing is kept: writing would be for nothing. From any thread.
  [[nodiscard]] bool idle() const { return keep_ == 0 && followers_.empty(); }

  using following = followers<journal_line>::following;

  /// Calls `on_line` on `loop` for each line written from now on, and `on_end` after the last.
  [[nodiscard]] following follow(
      loop::loop& loop, sink on_line, std::function<void()> on_end = [] {});
  /// Notifies all followers that there will be no more lines.
  void end() { followers_.end(); }

 private:
  struct allowance {
    std::chrono::steady_clock::time_point since;
    std::uint64_t written = 0;
    std::uint64_t left_out = 0;
  };

  void add(journal_line line);

  const std::size_t keep_;
  const std::chrono::system_clock::time_point origin_ = std::chrono::system_clock::now();
  std::uint64_t written_ = 0;
  std::map<std::string, allowance, std::less<>> causes_;
  mutable std::mutex lock_;
  std::deque<journal_line> lines_;
  followers<journal_line> followers_;
  sink copy_;
};

}  // namespace strata::runtime
