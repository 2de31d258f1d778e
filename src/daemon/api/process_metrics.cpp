#include "daemon/api/process_metrics.hpp"

#include <fmt/format.h>
#include <sys/resource.h>

#include <chrono>
#include <cstdint>
#include <filesystem>
#include <fstream>
#include <optional>

#include "runtime/process_figures.hpp"

namespace strata::daemon {

namespace {

// Initialized at program start, which is the daemon's start.
const auto started = std::chrono::system_clock::now();

template <class Value>
void add(std::string& text, std::string_view name, std::string_view type, std::string_view help,
         const std::optional<Value>& value) {
  if (!value) return;
  text += fmt::format("# HELP {0} {1}\n# TYPE {0} {2}\n{0} {3}\n", name, help, type, *value);
}

std::optional<std::uint64_t> open_files() {
  std::error_code trouble;
  std::uint64_t count = 0;
  for (std::filesystem::directory_iterator each("/proc/self/fd", trouble), end;
       !trouble && each != end; each.increment(trouble)) {
    ++count;
  }
  if (trouble || count == 0) return std::nullopt;
  return count - 1;  // not counting the folder itself
}

std::optional<std::uint64_t> most_files() {
  rlimit limit{};
  if (::getrlimit(RLIMIT_NOFILE, &limit) != 0) return std::nullopt;
  return limit.rlim_cur;
}

std::optional<double> cpu_seconds() {
  const auto used = runtime::used_processor_time();
  if (!used) return std::nullopt;
  return used->user_s + used->system_s;
}

}  // namespace

std::string process_metrics(std::string_view version) {
  auto text = fmt::format(
      "# HELP strata_build_info 1, with the version as a label\n# TYPE strata_build_info gauge\n"
      "strata_build_info{{version=\"{}\"}} 1\n",
      version);
  const std::optional since(std::chrono::duration<double>(started.time_since_epoch()).count());
  add(text, "process_start_time_seconds", "gauge", "start time of the process since 1970", since);
  add(text, "process_cpu_seconds_total", "counter", "processor time of the process", cpu_seconds());
  add(text, "process_resident_memory_bytes", "gauge", "resident memory of the process",
      runtime::resident_bytes());
  add(text, "process_open_fds", "gauge", "open descriptors", open_files());
  add(text, "process_max_fds", "gauge", "limit of open descriptors", most_files());
  return text;
}

}  // namespace strata::daemon
