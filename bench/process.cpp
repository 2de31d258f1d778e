#include "process.hpp"

#include <fmt/core.h>

#include <algorithm>
#include <ctime>
#include <filesystem>
#include <fstream>
#include <system_error>

#include "failure.hpp"

namespace strata::bench {

// The sum over the threads' schedstat, which counts nanoseconds where /proc/PID/stat counts ticks.
// A thread that ended is no longer there but is in the process's CPU clock: the larger holds all.
std::uint64_t cpu_meter::read() const {
  if (pid_ == 0) return 0;
  std::uint64_t sum = 0;
  std::error_code gone;
  for (const auto& task :
       std::filesystem::directory_iterator(fmt::format("/proc/{}/task", pid_), gone)) {
    std::uint64_t running = 0;
    std::ifstream(task.path() / "schedstat") >> running;
    sum += running;
  }
  if (gone) fail(fmt::format("the server's process {} is gone", pid_));

  clockid_t clock{};
  timespec time{};
  if (clock_getcpuclockid(static_cast<pid_t>(pid_), &clock) != 0 ||
      clock_gettime(clock, &time) != 0) {
    return sum;
  }
  return std::max(sum, static_cast<std::uint64_t>(time.tv_sec) * 1'000'000'000U +
                           static_cast<std::uint64_t>(time.tv_nsec));
}

}  // namespace strata::bench
