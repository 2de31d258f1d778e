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
/// The time of the calling thread since it was started.
[[nodiscard]] std::optional<processor_time> used_thread_time();

/// The allocator's memory in bytes: what the program uses, the pages that hold it, and those of
/// them and others that are resident.
struct allocator_memory {
  std::uint64_t allocated = 0;
  std::uint64_t active = 0;
  std::uint64_t resident = 0;
};
/// Nullopt if the program's allocator is not jemalloc.
[[nodiscard]] std::optional<allocator_memory> allocator_figures();

}  // namespace strata::runtime
