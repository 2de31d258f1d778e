// Where AF_XDP stands beside the kernel's other ways to send and receive one message after another.
#pragma once

#include <cstdint>
#include <vector>

#include "measure/run/experiment.hpp"

namespace strata::measure {

/// The best AF_XDP path of one measurement, and the best of its rivals; null when none was
/// measured. Paths that pack or coalesce messages are no rivals: they do something else.
struct verdict {
  const series* xdp = nullptr;
  const series* packet = nullptr;  ///< AF_PACKET
  const series* udp = nullptr;

  enum class ruling : std::uint8_t { wins, loses, even };
  /// How many times as good as the rival; 0 without one.
  [[nodiscard]] static double ratio(const series* xdp, const series* rival);
  /// Against the better rival: even when the difference is within the medians' spreads.
  [[nodiscard]] ruling outcome() const;
};

/// One for each measurement that AF_XDP took part in.
[[nodiscard]] std::vector<verdict> verdicts_of(const findings& of);

}  // namespace strata::measure
