#include "measure/node/machine.hpp"

#include <sys/utsname.h>

#include <algorithm>
#include <cmath>
#include <cstdlib>
#include <fstream>
#include <thread>

#include "measure/node/thread_events.hpp"
#include "strata/nl/ethtool.hpp"

namespace strata::measure {

namespace {

// Returns the value of the first line of /proc/cpuinfo that begins with `key`.
std::string cpu_field(std::string_view key) {
  std::ifstream file("/proc/cpuinfo");
  for (std::string line; std::getline(file, line);) {
    if (!line.starts_with(key)) continue;
    const auto colon = line.find(": ");
    if (colon != std::string::npos) return line.substr(colon + 2);
  }
  return {};
}

std::string governor() {
  std::ifstream file("/sys/devices/system/cpu/cpu0/cpufreq/scaling_governor");
  std::string name;
  if (std::getline(file, name)) return name;
  return "unknown (no cpufreq, as in most virtual machines)";
}

// Returns how many threads wanted to run during the last minute, other programs' included.
nlohmann::json load_average() {
  double last_minute = 0;
  if (::getloadavg(&last_minute, 1) != 1) return nullptr;
  return std::round(last_minute * 100) / 100;
}

// Returns "yes", or why not.
std::string cycle_counters() {
  const auto opened = thread_events::open_cycles_and_instructions();
  return opened ? "yes" : describe(opened.error());
}

}  // namespace

nlohmann::json describe_machine() {
  utsname names{};
  ::uname(&names);
  const auto cpu = cpu_field("model name");
  const bool virtual_machine = cpu_field("flags").contains(" hypervisor");
  return {{"kernel", names.release},
          {"architecture", names.machine},
          {"cpu", cpu.empty() ? "unknown" : cpu},
          {"cores", std::thread::hardware_concurrency()},
          {"governor", governor()},
          {"virtual_machine", virtual_machine},
          {"load_average", load_average()},
          {"cycle_counters", cycle_counters()}};
}

nlohmann::json describe_offloads(const std::string& link) {
  struct row {
    const char* name;
    std::string_view feature;  // one that ends in '-' stands for all with this prefix
  };
  static constexpr row rows[] = {
      {"rx_checksum", "rx-checksum"},          {"tx_checksum", "tx-checksum-"},
      {"scatter_gather", "tx-scatter-gather"}, {"tso", "tx-tcp-"},
      {"gso", "tx-generic-segmentation"},      {"gro", "rx-gro"},
  };
  auto on = nl::ethtool::open();
  const auto features = on ? on->features(link) : std::unexpected(on.error());
  auto all = nlohmann::json::object();
  for (const auto& each : rows) {
    if (!features) {
      all[each.name] = nullptr;
      continue;
    }
    all[each.name] = std::ranges::any_of(*features, [&](const nl::interface_feature& one) {
      return one.is_active && (each.feature.ends_with('-') ? one.name.starts_with(each.feature)
                                                           : one.name == each.feature);
    });
  }
  return all;
}

}  // namespace strata::measure
