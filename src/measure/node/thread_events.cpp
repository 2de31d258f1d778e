#include "measure/node/thread_events.hpp"

#include <linux/perf_event.h>
#include <sys/syscall.h>
#include <unistd.h>

#include <cerrno>

namespace strata::measure {

namespace {

unique_fd open_event(const thread_event& event, int group) {
  perf_event_attr wanted{};
  wanted.size = sizeof wanted;
  wanted.type = event.type;
  wanted.config = event.which;
  wanted.read_format =
      PERF_FORMAT_GROUP | PERF_FORMAT_TOTAL_TIME_ENABLED | PERF_FORMAT_TOTAL_TIME_RUNNING;
  return unique_fd(static_cast<int>(
      ::syscall(SYS_perf_event_open, &wanted, 0, -1, group, PERF_FLAG_FD_CLOEXEC)));
}

}  // namespace

result<thread_events> thread_events::open(const std::array<thread_event, 2>& array) {
  auto first = open_event(array[0], -1);
  if (!first) return system_failure(errno, "count events of a thread");
  auto second = open_event(array[1], first.get());
  if (!second) return system_failure(errno, "count events of a thread");
  return thread_events(std::move(first), std::move(second));
}

result<thread_events> thread_events::open_cycles_and_instructions() {
  auto opened = open({{{PERF_TYPE_HARDWARE, PERF_COUNT_HW_CPU_CYCLES},
                       {PERF_TYPE_HARDWARE, PERF_COUNT_HW_INSTRUCTIONS}}});
  if (opened) return opened;
  constexpr auto what = "count cycles and instructions";
  const int code = opened.error().sys_errno;
  if (code == ENOENT || code == EOPNOTSUPP || code == ENODEV) {
    return failure(errc::not_supported, what,
                   "the processor has no counters here, as in most virtual machines");
  }
  return system_failure(code, what, "run it as root or with CAP_PERFMON");
}

result<thread_events::counts> thread_events::read() const {
  struct {
    std::uint64_t count = 0;
    std::uint64_t enabled_ns = 0;
    std::uint64_t running_ns = 0;
    counts values{};
  } seen;
  if (::read(first_.get(), &seen, sizeof seen) != sizeof seen) {
    return system_failure(errno, "read the event counts of a thread");
  }
  if (seen.running_ns < seen.enabled_ns) {
    return failure(errc::conflict, "count events of a thread",
                   "other programs used the processor's counters meanwhile");
  }
  return seen.values;
}

}  // namespace strata::measure
