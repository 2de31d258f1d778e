// The distribution of many durations: shown by `l2 ping` and `l2 cycle`.
#pragma once

#include <array>
#include <cstdint>
#include <nlohmann/json_fwd.hpp>
#include <string>

#include "measure/counting/histogram.hpp"

namespace strata::cli {

/// For one thread. Recording allocates nothing.
class time_spread {
 public:
  void record(std::uint64_t ns);

  [[nodiscard]] std::uint64_t total() const { return times_.total(); }
  /// "min 1.0 us, avg …, max …, p50 …, p99 …", with `to_a_thousandth` also "p99.9 …"; empty if
  /// there are no durations.
  [[nodiscard]] std::string text(bool to_a_thousandth = false) const;
  /// A line for each power of two, from the shortest to the longest.
  [[nodiscard]] std::string drawn() const;
  /// Adds "min_ns", "avg_ns", … as members of `value`; adds nothing if there are no durations.
  void put_into(nlohmann::json& value, bool to_a_thousandth = false) const;

 private:
  [[nodiscard]] double part_ns(double part) const;
  [[nodiscard]] double average_ns() const { return sum_ns_ / static_cast<double>(total()); }

  std::uint64_t least_ns_ = UINT64_MAX;
  std::uint64_t most_ns_ = 0;
  double sum_ns_ = 0;
  measure::histogram times_;
  std::array<std::uint64_t, 65> powers_{};  // counts by bit width
};

/// Formats nanoseconds as `12.3 us`.
[[nodiscard]] std::string in_microseconds(double ns);

}  // namespace strata::cli
