// The kernel's figures on this process: its memory and its processor time.
#pragma once

#include <cstdint>
#include <optional>

namespace strata::runtime {

/// Resident memory in bytes. Nullopt if /proc cannot be read.
[[nodiscard]] std::optional<std::uint64_t> resident_bytes();

struct processor_time {
  double user_s = 0;
  double system_s = 0;
};
/// The time of all threads since the process was started.
[[nodiscard]] std::optional<processor_time> used_processor_time();

}  // namespace strata::runtime
