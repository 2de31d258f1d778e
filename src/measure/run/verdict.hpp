// Compares AF_XDP with the kernel's other ways to send and receive individual messages.
#pragma once

#include <vector>

#include "measure/counting/statistics.hpp"
#include "measure/run/experiment.hpp"

namespace strata::measure {

/// The best AF_XDP path of one measurement, and its best rivals; null if none was measured. Paths
/// that pack or coalesce messages are no rivals: they do something else.
struct verdict {
  const series* xdp = nullptr;
  const series* packet = nullptr;  ///< AF_PACKET
  const series* udp = nullptr;

  /// Returns how many times as good it is as the rival; without runs if there is no rival.
  [[nodiscard]] static estimate ratio(const series* xdp, const series* rival);
  /// Whether it is better than the better of the two rivals.
  [[nodiscard]] ruling outcome() const;
};

/// Returns one verdict per measurement that includes AF_XDP.
[[nodiscard]] std::vector<verdict> verdicts_of(const findings& findings);

}  // namespace strata::measure
