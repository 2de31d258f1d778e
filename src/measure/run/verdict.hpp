// Where AF_XDP stands beside the kernel's other ways to send and receive one message after another.
#pragma once

#include <vector>

#include "measure/counting/statistics.hpp"
#include "measure/run/experiment.hpp"

namespace strata::measure {

/// The best AF_XDP path of one measurement, and the best of its rivals; null when none was
/// measured. Paths that pack or coalesce messages are no rivals: they do something else.
struct verdict {
  const series* xdp = nullptr;
  const series* packet = nullptr;  ///< AF_PACKET
  const series* udp = nullptr;

  /// How many times as good as the rival; without runs if there is none.
  [[nodiscard]] static estimate ratio(const series* xdp, const series* rival);
  /// Whether it is better than the better rival.
  [[nodiscard]] ruling outcome() const;
};

/// One for each measurement that AF_XDP took part in.
[[nodiscard]] std::vector<verdict> verdicts_of(const findings& findings);

}  // namespace strata::measure
