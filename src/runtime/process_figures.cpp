#include "runtime/process_figures.hpp"

#include <sys/resource.h>
#include <unistd.h>

#include <cstddef>
#include <fstream>

// jemalloc's, where it is linked: not in builds with sanitizers.
extern "C" [[gnu::weak]] int mallctl(const char* name, void* value, std::size_t* size,
                                     void* new_value, std::size_t new_size);

namespace strata::runtime {

namespace {

std::optional<processor_time> time_of(int whose) {
  rusage used{};
  if (::getrusage(whose, &used) != 0) return std::nullopt;
  const auto seconds = [](const timeval& time) {
    return static_cast<double>(time.tv_sec) + static_cast<double>(time.tv_usec) / 1e6;
  };
  return processor_time{seconds(used.ru_utime), seconds(used.ru_stime)};
}

std::uint64_t statistic(const char* name) {
  std::size_t bytes = 0;
  auto size = sizeof bytes;
  return ::mallctl(name, &bytes, &size, nullptr, 0) == 0 ? bytes : 0;
}

}  // namespace

std::optional<std::uint64_t> resident_bytes() {
  std::uint64_t pages = 0;
  std::uint64_t resident = 0;
  std::ifstream file("/proc/self/statm");
  if (!(file >> pages >> resident)) return std::nullopt;
  return resident * static_cast<std::uint64_t>(::sysconf(_SC_PAGESIZE));
}

std::optional<processor_time> used_processor_time() { return time_of(RUSAGE_SELF); }

std::optional<processor_time> used_thread_time() { return time_of(RUSAGE_THREAD); }

std::optional<allocator_memory> allocator_figures() {
  if (::mallctl == nullptr) return std::nullopt;
  // Its statistics are of the last epoch, and writing to it begins another.
  std::uint64_t epoch = 1;
  if (::mallctl("epoch", nullptr, nullptr, &epoch, sizeof epoch) != 0) return std::nullopt;
  return allocator_memory{.allocated = statistic("stats.allocated"),
                          .active = statistic("stats.active"),
                          .resident = statistic("stats.resident")};
}

}  // namespace strata::runtime
