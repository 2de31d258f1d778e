// The plan of strata l2 cycle, made from its flags.
#pragma once

#include <cstdint>

#include "cli/line/invocation.hpp"
#include "strata/l2/raw_socket.hpp"
#include "strata/l2/time_source.hpp"

namespace strata::cli {

struct cycle_plan {
  l2::time_source clock;
  std::uint64_t period_ns = 0;
  std::uint64_t phase_ns = 0;  ///< offset of each deadline from a multiple of the period
  std::uint64_t count = UINT64_MAX;
  bool by_txtime = false;
  std::uint64_t lead_ns = 0;  ///< with txtime: time between waking and the deadline

  /// Errors: misused; there is no such clock; with --txtime, no queueing discipline of the
  /// interface would hold a frame until its time.
  static outcome<cycle_plan> make(const invocation& call);
  /// The first future deadline, with some time to get ready.
  [[nodiscard]] std::uint64_t first_deadline() const;
  [[nodiscard]] l2::raw_socket_options socket_options() const;
};

}  // namespace strata::cli
