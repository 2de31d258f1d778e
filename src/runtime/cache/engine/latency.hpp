// LATENCY: what took longer than latency-monitor-threshold, by kinds of events; and how long each
// command's calls took.
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
    std::deque<sample> samples;  ///< the worst of a second each, the oldest first
    std::int64_t worst_ms = 0;
  };
  using table = std::map<std::string, history, std::less<>>;

  void add(std::string_view event, std::int64_t time_s, std::int64_t ms);
  [[nodiscard]] const table& events() const { return events_; }
  [[nodiscard]] const history* find(std::string_view event) const;
  /// Says whether there was something to forget.
  bool forget(std::string_view event);
  void clear() { events_.clear(); }

 private:
  table events_;
};

/// Times of calls in steps of powers of two, as Redis shows them.
class time_histogram {
 public:
  void add(std::uint64_t us);
  [[nodiscard]] std::uint64_t calls() const { return calls_; }

  struct step {
    std::uint64_t most_us;
    std::uint64_t calls;  ///< that took at most this time
  };
  /// Those steps that some call belongs to.
  [[nodiscard]] std::vector<step> steps() const;

 private:
  std::vector<std::uint64_t> counts_;
  std::uint64_t calls_ = 0;
};

}  // namespace strata::runtime::cache
