// The results of one ping's requests.
#pragma once

#include <cstdint>
#include <nlohmann/json_fwd.hpp>
#include <string>
#include <vector>

#include "cli/l2/time_spread.hpp"

namespace strata::cli {

/// For one thread.
class round_trips {
 public:
  /// Records a request. They are numbered from 1 on, without a gap.
  void sent() { seen_.push_back(false); }
  /// Records that the kernel did not take a request: it counts as sent, and is lost.
  void refused() { ++refused_; }
  /// Records an answer. Returns false if the request was answered before, or never sent.
  bool take(std::uint64_t sequence, std::uint64_t took_ns);

  [[nodiscard]] std::uint64_t sent_count() const { return seen_.size(); }
  [[nodiscard]] std::uint64_t received() const { return times_.total(); }
  [[nodiscard]] std::uint64_t duplicates() const { return duplicates_; }
  [[nodiscard]] std::uint64_t lost() const { return sent_count() - received(); }

  /// The lines of the summary.
  [[nodiscard]] std::string text() const;
  /// A line for each power of two of the times, from the shortest to the longest.
  [[nodiscard]] std::string drawn() const { return times_.drawn(); }
  [[nodiscard]] nlohmann::json json() const;

 private:
  std::vector<bool> seen_;
  std::uint64_t refused_ = 0;
  std::uint64_t duplicates_ = 0;
  time_spread times_;
};

}  // namespace strata::cli
