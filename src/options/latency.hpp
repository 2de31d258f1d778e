// Durations: counts by steps of time, for percentiles and for Prometheus histograms.
#pragma once

#include <array>
#include <cstddef>
#include <cstdint>
#include <nlohmann/json.hpp>
#include <span>

#include "options/counter.hpp"

namespace strata::options {

/// One thread counts, and all may read. Counting costs a search among 113 steps, each at most a
/// quarter longer than the previous one, and three additions.
class latency {
 public:
  void add(std::uint64_t us);
  void add(const latency& part);

  [[nodiscard]] std::uint64_t count() const;
  [[nodiscard]] std::uint64_t sum_us() const { return sum_us_.get(); }
  [[nodiscard]] std::uint64_t max_us() const { return max_us_.get(); }
  /// A time that the given part (0 to 1) of all durations did not exceed: the end of a step, or the
  /// longest time. 0 if there are none.
  [[nodiscard]] std::uint64_t percentile_us(double part) const;
  /// The number of durations of at most `us`, which is one of `bounds_us`.
  [[nodiscard]] std::uint64_t count_within(std::uint64_t us) const;

  /// The ends of the steps that are shown: 100 µs, 250 µs, 500 µs and so on.
  [[nodiscard]] static std::span<const std::uint64_t> bounds_us();

 private:
  static constexpr std::size_t decades = 7;  // starting at 10 µs
  static constexpr std::size_t steps_a_decade = 16;
  static constexpr std::size_t steps = decades * steps_a_decade;
  static const std::array<std::uint64_t, steps>& ends_us();

  std::array<counter, steps + 1> counts_{};  // the last: longer durations
  counter sum_us_;
  counter max_us_;
};

/// `count`, `sum_ms`, `p50_ms`, `p90_ms`, `p99_ms`, `max_ms`, and in `within_ms` the number of
/// durations up to each of some times.
[[nodiscard]] nlohmann::json to_json(const latency& latency);

}  // namespace strata::options
