// When a process was started.
#pragma once

#include <sys/types.h>

#include <cstdint>
#include <optional>

namespace strata::process {

/// The start time of a process in clock ticks since the machine's start (proc(5), field 22 of
/// /proc/PID/stat), which no later process of the same id shares. Nullopt if there is no such
/// process.
[[nodiscard]] std::optional<std::uint64_t> start_ticks(pid_t process);

}  // namespace strata::process
