// The processor's counters for a thread: cycles and instructions, by perf_event_open(2).
#pragma once

#include <array>
#include <cstdint>

#include "strata/base/result.hpp"
#include "strata/base/unique_fd.hpp"

namespace strata::measure {

/// An event, as perf_event_open identifies it.
struct thread_event {
  std::uint32_t type = 0;
  std::uint64_t which = 0;
};

/// Counts two events of the opening thread, from then on, including the kernel's. They are counted
/// together, or not at all.
class thread_events {
 public:
  using counts = std::array<std::uint64_t, 2>;

  /// Errors: not_supported if the processor counts none, as in most virtual machines;
  /// permission_denied without CAP_PERFMON.
  [[nodiscard]] static result<thread_events> open_cycles_and_instructions();
  [[nodiscard]] static result<thread_events> open(const std::array<thread_event, 2>& array);

  /// Errors: those of read(2); and an error if the counters were used for other threads meanwhile,
  /// so that a part is missing.
  [[nodiscard]] result<counts> read() const;

 private:
  thread_events(unique_fd first, unique_fd second)
      : first_(std::move(first)), second_(std::move(second)) {}

  unique_fd first_;
  unique_fd second_;
};

}  // namespace strata::measure
