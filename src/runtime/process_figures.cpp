#include "runtime/process_figures.hpp"

#include <sys/resource.h>
#include <unistd.h>

#include <fstream>

namespace strata::runtime {

std::optional<std::uint64_t> resident_bytes() {
  std::uint64_t pages = 0;
  std::uint64_t resident = 0;
  std::ifstream file("/proc/self/statm");
  if (!(file >> pages >> resident)) return std::nullopt;
  return resident * static_cast<std::uint64_t>(::sysconf(_SC_PAGESIZE));
}

std::optional<processor_time> used_processor_time() {
  rusage used{};
  if (::getrusage(RUSAGE_SELF, &used) != 0) return std::nullopt;
  const auto seconds = [](const timeval& time) {
    return static_cast<double>(time.tv_sec) + static_cast<double>(time.tv_usec) / 1e6;
  };
  return processor_time{seconds(used.ru_utime), seconds(used.ru_stime)};
}

}  // namespace strata::runtime
