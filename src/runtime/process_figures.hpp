// What the kernel says of this process: its memory and its processor time.
#pragma once

#include <cstdint>
#include <optional>

namespace strata::runtime {

/// Bytes of memory that are resident. Nothing where /proc cannot be read.
[[nodiscard]] std::optional<std::uint64_t> resident_bytes();

struct processor_time {
  double user_s = 0;
  double system_s = 0;
};
/// Of all threads, since the process was started.
[[nodiscard]] std::optional<processor_time> used_processor_time();

}  // namespace strata::runtime
