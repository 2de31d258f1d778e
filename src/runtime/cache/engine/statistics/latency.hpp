// LATENCY: events that took longer than latency-monitor-threshold, by kind; and the times of each
// command's calls.
#pragma once

#include <cstdint>
#include <deque>
#include <map>
#include <string>
#include <string_view>
#include <vector>

namespace strata::runtime::cache {

class latency_log {
 public:
  struct sample {
    std::int64_t time_s;
    std::int64_t ms;
  };
  struct history {
    std::deque<sample> samples;  ///< the worst of each second, oldest first
    std::int64_t worst_ms = 0;
  };
  using table = std::map<std::string, history, std::less<>>;

  void add(std::string_view event, std::int64_t time_s, std::int64_t ms);
  [[nodiscard]] const table& events() const { return events_; }
  [[nodiscard]] const history* find(std::string_view event) const;
  /// Reports whether there was anything to forget.
  bool forget(std::string_view event);
  void clear() { events_.clear(); }

 private:
  table events_;
};

/// A histogram of call times in powers of two, as Redis shows them.
class time_histogram {
 public:
  void add(std::uint64_t us);
  [[nodiscard]] std::uint64_t calls() const { return calls_; }

  struct step {
    std::uint64_t most_us;
    std::uint64_t calls;  ///< that took at most `most_us`
  };
  /// Returns the end of the step in which that part of the calls, in order of their times, ends.
  [[nodiscard]] std::uint64_t most_us(double part) const;
  /// Returns the non-empty steps.
  [[nodiscard]] std::vector<step> steps() const;

 private:
  std::vector<std::uint64_t> counts_;
  std::uint64_t calls_ = 0;
};

}  // namespace strata::runtime::cache
