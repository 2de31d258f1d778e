// A cache's statistics: counters of its clients and commands, the slow log and the latency log, and
// the figures of the server of its clients. The counters of keys are the keyspace's.
//
// The front owns it. No I/O, one thread.
#pragma once

#include <cstdint>
#include <functional>
#include <map>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "runtime/cache/engine/keyspace.hpp"
#include "runtime/cache/engine/parameters.hpp"
#include "runtime/cache/engine/statistics/latency.hpp"
#include "runtime/cache/engine/statistics/service_figures.hpp"
#include "runtime/cache/engine/statistics/slow_log.hpp"

namespace strata::runtime::cache {

class client;

/// Counters since the cache was started, or since CONFIG RESETSTAT.
struct cache_counters {
  std::uint64_t commands = 0;
  std::uint64_t connections = 0;
  std::uint64_t rejected = 0;
  std::uint64_t errors = 0;
  std::uint64_t full_syncs = 0;        ///< followers that got a snapshot
  std::uint64_t partial_syncs = 0;     ///< followers that got only what they had missed
  std::uint64_t refused_partials = 0;  ///< that requested only that, but got a snapshot
};

struct command_counters {
  std::uint64_t calls = 0;
  std::uint64_t us = 0;
  std::uint64_t rejected = 0;
  std::uint64_t failed = 0;
  time_histogram times;  ///< of the calls that were timed
};

class cache_statistics {
 public:
  /// Both must outlive it; `settings` has the thresholds of the logs.
  cache_statistics(keyspace& data, const parameters& settings);
  cache_statistics(const cache_statistics&) = delete;
  cache_statistics& operator=(const cache_statistics&) = delete;

  [[nodiscard]] cache_counters& counted() { return counters_; }
  /// The counters of each command, by its index.
  [[nodiscard]] std::vector<command_counters>& counted_commands() { return command_counters_; }
  /// Counts an error reply, also by its code: its first word.
  void count_error(std::string_view text);
  /// The number of error replies by their codes. Beyond a number of different codes, others are not
  /// listed.
  [[nodiscard]] const std::map<std::string, std::uint64_t, std::less<>>& errors_by_code() const {
    return errors_;
  }
  /// Records the measured time of a command.
  void count_time(const client& client, const command& command,
                  std::span<const std::string_view> words, std::int64_t us);
  /// Records an event that took that long, if it reaches the threshold.
  void note_latency(std::string_view event, std::int64_t us);
  [[nodiscard]] slow_log& slow() { return slow_log_; }
  [[nodiscard]] latency_log& latencies() { return latency_; }

  /// Sets the figures of the server of the clients; without it there are none.
  void set_service(std::function<service_figures()> figures) { service_ = std::move(figures); }
  /// Returns the figures; bytes, reads and writes are counted like `counted()`.
  [[nodiscard]] service_figures service() const;

  /// Resets all counters, those of keys too, but no log: CONFIG RESETSTAT.
  void reset();

 private:
  keyspace& keys_;
  const parameters& parameters_;
  cache_counters counters_;
  std::vector<command_counters> command_counters_;
  std::map<std::string, std::uint64_t, std::less<>> errors_;
  slow_log slow_log_;
  latency_log latency_;
  std::function<service_figures()> service_;
  service_figures service_at_reset_;
};

}  // namespace strata::runtime::cache
