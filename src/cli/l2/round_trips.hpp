// What became of the requests of one ping.
#pragma once

#include <cstdint>
#include <nlohmann/json_fwd.hpp>
#include <string>
#include <vector>

#include "cli/l2/time_spread.hpp"

namespace strata::cli {

/// One thread.
class round_trips {
 public:
  /// Numbered from 1 on, without a gap.
  void sent() { seen_.push_back(false); }
  /// The kernel did not take it: it counts as sent, and is lost.
  void refused() { ++refused_; }
  /// An answer came. False: to this request one came before; or it was never sent.
  bool take(std::uint64_t sequence, std::uint64_t took_ns);

  [[nodiscard]] std::uint64_t sent_count() const { return seen_.size(); }
  [[nodiscard]] std::uint64_t received() const { return times_.total(); }
  [[nodiscard]] std::uint64_t duplicates() const { return duplicates_; }
  [[nodiscard]] std::uint64_t lost() const { return sent_count() - received(); }

  /// The summary's lines.
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
